// Maps from nodes and names to values. Compilers take 25 ms for each std::unordered_map of
// another type (g++ 12), a program that includes everything has two: the values lie in vectors.
#pragma once

#include <cstddef>
#include <lathe/support/ref.hpp>
#include <lathe/support/vec.hpp>
#include <string>
#include <unordered_map>
#include <utility>

namespace lathe {

/// A set whose keys are numbered from 0 in the order in which they came.
template <class Key>
class DenseSet {
 public:
  /// The key's number, and whether it is new.
  std::pair<std::size_t, bool> insert(const Key& key) {
    auto [at, fresh] = numbers_.emplace(key, numbers_.size());
    return {at->second, fresh};
  }
  /// The key's number; size() if it is not here.
  std::size_t find(const Key& key) const {
    auto at = numbers_.find(key);
    return at == numbers_.end() ? numbers_.size() : at->second;
  }
  bool contains(const Key& key) const { return numbers_.count(key) != 0; }
  std::size_t size() const { return numbers_.size(); }
  void clear() { numbers_.clear(); }
  /// Takes back the key that came last.
  void pop(const Key& last) { numbers_.erase(last); }

 private:
  std::unordered_map<Key, std::size_t> numbers_;
};

/// A map whose values may move when a key is added.
template <class Key, class V>
class DenseMap {
 public:
  /// Null if the key is not here.
  const V* find(const Key& key) const {
    std::size_t at = keys_.find(key);
    return at < values_.size() ? &values_[at] : nullptr;
  }
  bool contains(const Key& key) const { return keys_.contains(key); }
  V& operator[](const Key& key) {
    auto [at, fresh] = keys_.insert(key);
    if (fresh) values_.emplace_back();
    return values_[at];
  }
  /// Keeps the value that the key has, if any; gives whether the key is new.
  bool insert(const Key& key, V value) {
    bool fresh = keys_.insert(key).second;
    if (fresh) values_.push_back(std::move(value));
    return fresh;
  }
  void clear() {
    keys_.clear();
    values_.clear();
  }
  /// Takes back the key that came last.
  void pop(const Key& last) {
    keys_.pop(last);
    values_.pop_back();
  }

 private:
  DenseSet<Key> keys_;
  Vec<V> values_;
};

/// Nodes by identity. The map does not keep them alive.
template <class V>
using NodeMap = DenseMap<const RefCounted*, V>;
using NodeSet = DenseSet<const RefCounted*>;

template <class V>
using NameMap = DenseMap<std::string, V>;
using NameSet = DenseSet<std::string>;

}  // namespace lathe
