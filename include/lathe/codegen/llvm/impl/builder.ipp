#pragma once

#include <lathe/codegen/llvm/builder.hpp>

namespace lathe::detail {

LATHE_DECL bool LlvmModule::can(std::string_view intrinsic) const {
  const auto* row = find_llvm_intrinsic(intrinsic);
  // SSE is part of every x86-64 and no feature of a Target.
  bool has = row && (row->feature.empty() || target.has(row->feature) ||
                     (row->feature == "sse" && target.arch == "x86_64"));
  return has && major >= row->since;
}

LATHE_DECL void LlvmModule::declare(std::string_view type, std::string_view name,
                                    std::string_view params) {
  if (!declared_.insert(std::string(name)).second) return;
  append(declarations_, "declare ", type, " @", name, "(", params, ") #1\n");
}

LATHE_DECL void LlvmModule::external(std::string_view name) {
  for (const auto& known : externals)
    if (known == name) return;
  externals.emplace_back(name);
}

LATHE_DECL void LlvmModule::declare_external(std::string_view type, std::string_view name,
                                             std::string_view params) {
  declare(type, name, params);
  external(name);
}

LATHE_DECL int LlvmModule::loop_metadata() {
  int id = next_metadata_++;
  append(metadata_, "!", id, " = distinct !{!", id, ", !2, !3}\n");
  return id;
}

LATHE_DECL int LlvmModule::alias_scope(std::string_view name) {
  constexpr std::size_t kMostScopes = 256;
  if (scopes_.size() == kMostScopes) return 0;
  int id = next_metadata_;
  next_metadata_ += 3;
  std::string clean;
  for (char c : name) clean += c == '"' || c == '\\' || c < ' ' ? '_' : c;
  append(metadata_, "!", id, " = distinct !{!", id, ", !1, !\"", clean, "\"}\n!", id + 1, " = !{!",
         id, "}\n");
  scopes_.push_back(id);
  return id;
}

LATHE_DECL std::string LlvmModule::alias_tags(int scope) const {
  return scope == 0 ? std::string() : cat(", !alias.scope !", scope + 1, ", !noalias !", scope + 2);
}

LATHE_DECL std::string LlvmModule::finish() {
  for (int scope : scopes_) {
    std::string others;
    for (int other : scopes_)
      if (other != scope) append(others, others.empty() ? "" : ", ", "!", other);
    append(metadata_, "!", scope + 2, " = !{", others, "}\n");
  }
  std::string wide = target.vector_bytes >= 64 ? " \"prefer-vector-width\"=\"512\"" : "";
  std::string text;
  text.reserve(functions_.size() + declarations_.size() + metadata_.size() + 1024);
  append(text, "target triple = \"", target.llvm_triple(), "\"\n\n", functions_, declarations_,
         "\nattributes #0 = { nounwind \"target-cpu\"=\"", target.llvm_cpu(major),
         "\" \"target-features\"=\"", target.llvm_features(major), "\"", wide,
         " \"no-trapping-math\"=\"true\" }\nattributes #1 = { nounwind }\n\n!0 = !{}\n"
         "!1 = distinct !{!1, !\"buffers\"}\n!2 = !{!\"llvm.loop.unroll.disable\"}\n"
         "!3 = !{!\"llvm.loop.vectorize.enable\", i1 false}\n!4 = !{i32 1}\n",
         metadata_);
  return text;
}

LATHE_DECL std::string LlvmFunction::fresh(std::string_view prefix) { return cat(prefix, next_++); }

// Buffers carry alias tags, places in the frame do not; a write to the frame leaves loads of
// buffers as they are.
inline bool llvm_names_buffer(std::string_view text) {
  return text.find("!alias.scope") != std::string_view::npos;
}

inline bool llvm_is_pure(std::string_view text) {
  for (std::string_view impure : {"load ", "call ", "phi ", "atomicrmw ", "cmpxchg "})
    if (text.substr(0, impure.size()) == impure) return false;
  return true;
}

LATHE_DECL void LlvmFunction::write_line(std::initializer_list<TextPiece> parts) {
  code_ += "  ";
  std::size_t from = code_.size();
  append_pieces(code_, parts);
  std::string_view text = std::string_view(code_).substr(from);
  if (text.substr(0, 6) != "store " || llvm_names_buffer(text)) loads_.clear();
  code_ += '\n';
}

LATHE_DECL std::string LlvmFunction::write_op(std::initializer_list<TextPiece> parts) {
  std::string text;
  append_pieces(text, parts);
  bool load = text.substr(0, 5) == "load " && llvm_names_buffer(text), pure = llvm_is_pure(text);
  auto& memory = load ? loads_ : known_;
  if (load || pure) {
    if (const auto* found = memory.find(text)) return *found;
  } else if (text.substr(0, 5) != "load " && text.find("@llvm.") == std::string::npos) {
    loads_.clear();
  }
  std::string name = fresh("%t");
  append_pieces(code_, {"  ", name, " = ", text, "\n"});
  if (load || pure) memory.insert(text, name);
  return name;
}

LATHE_DECL void LlvmFunction::start(const std::string& label) {
  if (!ended_) jump(label);
  known_.clear();
  loads_.clear();
  append_pieces(code_, {label, ":\n"});
  current_ = label;
  ended_ = false;
}

LATHE_DECL void LlvmFunction::jump(const std::string& label) {
  line("br label %", label);
  ended_ = true;
}

LATHE_DECL void LlvmFunction::branch(const LlvmValue& condition, const std::string& yes,
                                     const std::string& no, std::string_view metadata) {
  line("br i1 ", condition.text, ", label %", yes, ", label %", no, metadata);
  ended_ = true;
}

LATHE_DECL LlvmValue LlvmFunction::binary(std::string_view opcode, const LlvmValue& a,
                                          const LlvmValue& b) {
  return op(a.dtype, opcode, " ", llvm_type(a.dtype), " ", a.text, ", ", b.text);
}

LATHE_DECL LlvmValue LlvmFunction::compare(std::string_view opcode, const LlvmValue& a,
                                           const LlvmValue& b) {
  return op(kBool.with_lanes(a.dtype.lanes), opcode, " ", llvm_type(a.dtype), " ", a.text, ", ",
            b.text);
}

LATHE_DECL LlvmValue LlvmFunction::convert(std::string_view opcode, const LlvmValue& a, DType to) {
  return op(to, opcode, " ", llvm_type(a.dtype), " ", a.text, " to ", llvm_type(to));
}

LATHE_DECL LlvmValue LlvmFunction::select(const LlvmValue& condition, const LlvmValue& yes,
                                          const LlvmValue& no) {
  std::string type = llvm_type(yes.dtype);
  return op(yes.dtype, "select ", llvm_type(condition.dtype), " ", condition.text, ", ", type, " ",
            yes.text, ", ", type, " ", no.text);
}

LATHE_DECL LlvmValue LlvmFunction::splat(const LlvmValue& scalar, int lanes) {
  if (lanes == 1) return scalar;
  DType t = scalar.dtype.with_lanes(lanes);
  std::string type = llvm_type(t);
  LlvmValue one = op(t, "insertelement ", type, " poison, ", llvm_type(scalar.dtype), " ",
                     scalar.text, ", i64 0");
  return op(t, "shufflevector ", type, " ", one.text, ", ", type, " poison, <", format_int(lanes),
            " x i32> zeroinitializer");
}

inline std::string llvm_lane_list(const Vec<int>& lanes) {
  std::string text = cat("<", lanes.size(), " x i32> <");
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    append(text, i ? ", " : "", "i32 ");
    if (lanes[i] < 0)
      text += "poison";
    else
      append(text, lanes[i]);
  }
  return text + ">";
}

LATHE_DECL LlvmValue LlvmFunction::shuffle(const LlvmValue& vector, const Vec<int>& lanes) {
  return shuffle(vector, {vector.dtype, "poison"}, lanes);
}
LATHE_DECL LlvmValue LlvmFunction::shuffle(const LlvmValue& a, const LlvmValue& b,
                                           const Vec<int>& lanes) {
  std::string type = llvm_type(a.dtype);
  return op(a.dtype.with_lanes(static_cast<int>(lanes.size())), "shufflevector ", type, " ", a.text,
            ", ", type, " ", b.text, ", ", llvm_lane_list(lanes));
}

LATHE_DECL LlvmValue LlvmFunction::concat(const LlvmValue& a, const LlvmValue& b) {
  int n = a.dtype.lanes, m = b.dtype.lanes;
  if (m == 1) {
    Vec<int> wider;
    for (int lane = 0; lane < n + 1; ++lane) wider.push_back(lane < n ? lane : -1);
    LlvmValue base = n == 1 ? insert({a.dtype.with_lanes(2), "poison"}, a, 0) : shuffle(a, wider);
    return insert(base, b, n);
  }
  Vec<int> lanes;
  for (int lane = 0; lane < n + m; ++lane) lanes.push_back(n == 1 ? lane - 1 : lane);
  if (n == 1) return insert(shuffle(b, lanes), a, 0);
  if (n == m) {
    return shuffle(a, b, lanes);
  }
  // shufflevector wants operands of one length: the shorter is padded.
  int wide = n > m ? n : m;
  Vec<int> pad;
  for (int lane = 0; lane < wide; ++lane) pad.push_back(lane < (n > m ? m : n) ? lane : -1);
  for (int lane = 0; lane < m; ++lane) lanes[static_cast<std::size_t>(n + lane)] = wide + lane;
  LlvmValue first = n < wide ? shuffle(a, pad) : a, second = m < wide ? shuffle(b, pad) : b;
  return shuffle(first, second, lanes);
}

LATHE_DECL LlvmValue LlvmFunction::extract(const LlvmValue& vector, int lane) {
  if (vector.dtype.lanes == 1) return vector;
  return op(vector.dtype.scalar(), "extractelement ", llvm_type(vector.dtype), " ", vector.text,
            ", i64 ", format_int(lane));
}

LATHE_DECL LlvmValue LlvmFunction::insert(const LlvmValue& vector, const LlvmValue& scalar,
                                          int lane) {
  return op(vector.dtype, "insertelement ", llvm_type(vector.dtype), " ", vector.text, ", ",
            llvm_type(scalar.dtype), " ", scalar.text, ", i64 ", format_int(lane));
}

LATHE_DECL LlvmValue LlvmFunction::intrinsic(std::string_view name, const Vec<LlvmValue>& args) {
  invariant(module.can(name), "an LLVM intrinsic that the target lacks");
  DType t = args[0].dtype;
  std::string type = llvm_type(t), full = cat("llvm.", name, ".", llvm_mangled(t)), params, values;
  for (std::size_t i = 0; i < args.size(); ++i) {
    append(params, i ? ", " : "", type);
    append(values, i ? ", " : "", type, " ", args[i].text);
  }
  module.declare(type, full, params);
  return op(t, "call ", type, " @", full, "(", values, ")");
}

LATHE_DECL LlvmValue LlvmFunction::any(const LlvmValue& mask) {
  if (mask.dtype.lanes == 1) return mask;
  std::string bits = cat("i", mask.dtype.lanes);
  LlvmValue word = op(kBool, "bitcast ", llvm_type(mask.dtype), " ", mask.text, " to ", bits);
  return op(kBool, "icmp ne ", bits, " ", word.text, ", 0");
}

LATHE_DECL LlvmValue LlvmFunction::phi(const LlvmValue& a, const std::string& from_a,
                                       const LlvmValue& b, const std::string& from_b) {
  return op(a.dtype, "phi ", llvm_type(a.dtype), " [ ", a.text, ", %", from_a, " ], [ ", b.text,
            ", %", from_b, " ]");
}

LATHE_DECL std::string LlvmFunction::frame(std::string_view type, int alignment) {
  std::string place = fresh("%f");
  frame_named(place, type, alignment);
  return place;
}

LATHE_DECL void LlvmFunction::frame_named(std::string_view name, std::string_view type,
                                          int alignment) {
  append(frame_, "  ", name, " = alloca ", type, ", align ", alignment, "\n");
}

LATHE_DECL std::string LlvmFunction::finish(std::string_view head) {
  return cat(head, " #0 {\nentry:\n", frame_, code_, "}\n\n");
}

}  // namespace lathe::detail
