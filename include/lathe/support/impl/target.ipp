#pragma once

#include <algorithm>
#include <lathe/support/impl/target_table.ipp>
#include <lathe/support/target.hpp>
#include <lathe/support/text.hpp>
#include <tuple>

namespace lathe {
namespace detail {

template <class Row, std::size_t N>
const Row* find_row(const Row (&table)[N], std::string_view name) {
  for (const Row& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

template <class F>
void for_each_word(std::string_view words, F f) {
  while (!words.empty()) {
    auto end = words.find(' ');
    f(words.substr(0, end));
    if (end == std::string_view::npos) break;
    words.remove_prefix(end + 1);
  }
}

inline const FeatureRow* find_feature(std::string_view arch, std::string_view name) {
  for (const FeatureRow& row : feature_table) {
    if (row.name == name && (row.arch == Arch::x86_64) == (arch == "x86_64")) return &row;
  }
  return nullptr;
}

inline void add_feature(Target& t, std::string_view name) {
  std::size_t at = 0;
  while (at < t.features.size() && t.features[at] < name) ++at;
  if (at < t.features.size() && t.features[at] == name) return;
  t.features.insert_at(at, std::string(name));
  if (auto* row = find_feature(t.arch, name)) {
    for_each_word(row->implies, [&](std::string_view implied) { add_feature(t, implied); });
  }
}

inline void add_model_features(Target& t, const ModelRow& model) {
  if (auto* parent = find_row(model_table, model.parent)) add_model_features(t, *parent);
  for_each_word(model.adds, [&](std::string_view feature) { add_feature(t, feature); });
  if (model.l1) t.l1_bytes = model.l1 << 10;
  if (model.l2) t.l2_bytes = model.l2 << 10;
  if (model.l3) t.l3_bytes = model.l3 << 10;
  if (model.line) t.line_bytes = model.line;
}

/// The facts that follow from the features and the model.
inline void derive_registers(Target& t) {
  bool wide = t.has("avx512f");
  t.vector_bytes = wide ? 64 : t.has("avx") ? 32 : 16;
  t.load_bytes = t.vector_bytes;
  for (auto* m = find_row(model_table, t.cpu); m; m = find_row(model_table, m->parent)) {
    if (m->load == 0) continue;
    t.load_bytes = std::min(m->load, t.vector_bytes);
    break;
  }
  t.vector_registers = wide || t.arch == "aarch64" ? 32 : 16;
  t.far_last_cache = false;
  for (auto* m = find_row(model_table, t.cpu); m; m = find_row(model_table, m->parent)) {
    if (m->last == ModelRow::as_parent) continue;
    t.far_last_cache = m->last == ModelRow::far;
    break;
  }
}

inline std::string implied_features(std::string_view arch, std::string_view cpu) {
  Target t;
  t.arch = arch;
  if (auto* model = find_row(model_table, cpu)) add_model_features(t, *model);
  return join(t.features, " ");
}

/// Defined in target_host.ipp.
Target detect_host();

}  // namespace detail

LATHE_DECL Target::Target() {
#if defined(__aarch64__)
  arch = cpu = name = "aarch64";
  features = {"neon"};
  vector_registers = 32;
#else
  arch = "x86_64";
  cpu = name = "x86-64";
#endif
}

LATHE_DECL Target::Target(std::string_view wanted, Location where) : Target() {
  if (wanted == "host" || wanted == "native") {
    *this = host();
    return;
  }
  if (detail::find_row(detail::cuda_table, wanted)) {
    *this = cuda(wanted, where);
    return;
  }
  auto* alias = detail::find_row(detail::alias_table, wanted);
  auto* model = detail::find_row(detail::model_table, alias ? alias->model : wanted);
  if (!model) {
    throw UserError("L0404", cat("Target: unknown machine '", wanted, "'"), where,
                    "known: " + join(known_targets(), " "),
                    "use one of these names, or lt::host()");
  }
  name = wanted;
  arch = model->arch == detail::Arch::x86_64 ? "x86_64" : "aarch64";
  cpu = model->name;
  features.clear();
  detail::add_model_features(*this, *model);
  detail::derive_registers(*this);
  // Another machine's number of processors is not known: code for it is tuned with this one's.
  cores = host().cores;
}

LATHE_DECL bool Target::has(std::string_view feature) const {
  for (const auto& known : features)
    if (known == feature) return true;
  return false;
}

namespace detail {
inline void check_feature(const Target& t, std::string_view feature, Location where) {
  if (find_feature(t.arch, feature)) return;
  std::string known;
  for (const FeatureRow& row : feature_table) {
    if ((row.arch == Arch::x86_64) == (t.arch == "x86_64"))
      append(known, known.empty() ? "" : " ", row.name);
  }
  throw UserError("L0405", cat("Target: ", t.arch, " has no instruction set '", feature, "'"),
                  where, "known: " + known, "use one of these names");
}

inline void remove_feature(Target& t, std::string_view feature) {
  if (!t.has(feature)) return;
  t.features.erase_if([&](const std::string& name) { return name == feature; });
  for (const FeatureRow& row : feature_table) {
    bool implies = false;
    for_each_word(row.implies, [&](std::string_view word) { implies |= word == feature; });
    if (implies && (row.arch == Arch::x86_64) == (t.arch == "x86_64")) remove_feature(t, row.name);
  }
}
}  // namespace detail

LATHE_DECL Target Target::with(std::string_view feature, Location where) const {
  detail::check_feature(*this, feature, where);
  Target t = *this;
  t.name += cat("+", feature);
  detail::add_feature(t, feature);
  detail::derive_registers(t);
  return t;
}

LATHE_DECL Target Target::without(std::string_view feature, Location where) const {
  detail::check_feature(*this, feature, where);
  Target t = *this;
  t.name += cat("-", feature);
  detail::remove_feature(t, feature);
  detail::derive_registers(t);
  return t;
}

LATHE_DECL bool Target::runs_on(const Target& machine, std::string* reason) const {
  std::string missing;
  if (kind != machine.kind || arch != machine.arch) {
    missing = cat("code for ", arch, " does not run on ", machine.arch);
  } else if (kind == TargetKind::cuda) {
    if (cpu != machine.cpu) missing = cat("code for ", cpu, " does not run on ", machine.cpu);
  } else {
    for (const auto& feature : features) {
      if (!machine.has(feature))
        append(missing, missing.empty() ? "the machine lacks " : " ", feature);
    }
  }
  if (reason) *reason = missing;
  return missing.empty();
}

LATHE_DECL std::string Target::llvm_triple() const {
  if (kind == TargetKind::cuda) return "nvptx64-nvidia-cuda";
#if defined(__APPLE__)
  return arch + "-apple-darwin";
#else
  return arch + "-unknown-linux-gnu";
#endif
}

LATHE_DECL std::string Target::llvm_cpu(int llvm_major) const {
  auto* model = detail::find_row(detail::model_table, cpu);
  while (model && model->since > llvm_major)
    model = detail::find_row(detail::model_table, model->parent);
  if (!model || model->name == "aarch64") return "generic";
  return std::string(model->name);
}

LATHE_DECL Target Target::for_llvm(int llvm_major) const {
  Target t = *this;
  for (const auto& row : detail::feature_table) {
    if ((row.arch == detail::Arch::x86_64) != (arch == "x86_64")) continue;
    if (!row.known_to(llvm_major)) detail::remove_feature(t, row.name);
  }
  return t;
}

LATHE_DECL std::string Target::llvm_features(int llvm_major) const {
  // A model in a virtual machine may lack what LLVM takes for granted: absent features are switched
  // off first, since switching one off also removes what implies it.
  std::string off, on;
  for (const auto& row : detail::feature_table) {
    if ((row.arch == detail::Arch::x86_64) != (arch == "x86_64") || row.since > llvm_major)
      continue;
    const bool used = has(row.name) && row.known_to(llvm_major);
    std::string& list = used ? on : off;
    append(list, list.empty() ? "" : ",", used ? "+" : "-", row.name);
  }
  if (kind == TargetKind::cuda) return "";
  return off + (off.empty() || on.empty() ? "" : ",") + on;
}

LATHE_DECL std::string Target::str() const {
  return cat(arch, " ", cpu, " vector=", vector_bytes, " load=", load_bytes, " line=", line_bytes,
             " registers=", vector_registers, " l1=", l1_bytes, " l2=", l2_bytes, " l3=", l3_bytes,
             " cores=", cores, far_last_cache ? " far-l3" : "", " +", join(features, "+"));
}

LATHE_DECL bool operator==(const Target& a, const Target& b) {
  const auto numbers = [](const Target& t) {
    return std::tie(t.vector_bytes, t.load_bytes, t.line_bytes, t.vector_registers, t.l1_bytes,
                    t.l2_bytes, t.l3_bytes, t.cores, t.far_last_cache);
  };
  return numbers(a) == numbers(b) && a.cpu == b.cpu && a.arch == b.arch && a.features == b.features;
}

LATHE_DECL const Target& host() {
  static const Target detected = detail::detect_host();
  return detected;
}

LATHE_DECL Target cuda(std::string_view arch, Location where) {
  auto* row = detail::find_row(detail::cuda_table, arch);
  if (!row) {
    throw UserError("L0404", cat("cuda: unknown architecture '", arch, "'"), where,
                    "known: " + join(detail::cuda_table, " ", [](auto& r) { return r.name; }),
                    "use one of these names");
  }
  Target t;
  t.kind = TargetKind::cuda;
  t.name = t.cpu = row->name;
  t.arch = "nvptx64";
  t.features.clear();
  t.vector_bytes = 16;
  t.vector_registers = 255;
  t.l1_bytes = row->shared_kib << 10;
  t.l2_bytes = row->l2_mib << 20;
  t.l3_bytes = 0;
  t.cores = row->multiprocessors;
  return t;
}

LATHE_DECL Vec<std::string> known_targets() {
  Vec<std::string> names = {"host"};
  for (const auto& row : detail::model_table) names.emplace_back(row.name);
  for (const auto& row : detail::alias_table) names.emplace_back(row.name);
  for (const auto& row : detail::cuda_table) names.emplace_back(row.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lathe
