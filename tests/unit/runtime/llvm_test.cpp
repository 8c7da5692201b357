#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <lathe/runtime/object_file.hpp>
#include <support/skip.hpp>

#include "llvm_versions.hpp"
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/runtime/impl/layer.ipp>
#endif

namespace lt = lathe;

namespace {

/// What is written to the standard error output while it lives.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile()), saved_(dup(2)) {
    std::fflush(stderr);
    dup2(fileno(file_), 2);
  }
  std::string stop() {
    std::fflush(stderr);
    dup2(saved_, 2);
    close(saved_);
    std::string text;
    std::rewind(file_);
    for (int c; (c = std::fgetc(file_)) != EOF;) text += static_cast<char>(c);
    std::fclose(file_);
    return text;
  }

 private:
  std::FILE* file_;
  int saved_;
};

std::string internal_error_of(const lt::Llvm& llvm, const char* text) {
  try {
    lt::compile_to_object(llvm, text, lt::host());
  } catch (const lt::InternalError& e) {
    return e.what();
  }
  return "";
}

constexpr const char* identity = "define i32 @k(ptr %slots, ptr %rt) nounwind {\n  ret i32 0\n}\n";

}  // namespace

TEST_CASE("LLVM is found by major, path or not at all, with a reason") {
  std::string reason;
  CHECK(lt::Llvm::find("off", &reason) == nullptr);
  CHECK(reason.find("switched off") != std::string::npos);
  CHECK(lt::Llvm::find("14", &reason) == nullptr);
  CHECK(reason == "LLVM 14 is not supported: Lathe uses LLVM 16 to 22");
  CHECK(lt::Llvm::find("23", &reason) == nullptr);
  CHECK(lt::Llvm::find("/no/such/libLLVM.so", &reason) == nullptr);
  CHECK(reason.find("/no/such/libLLVM.so") != std::string::npos);
  for_each_llvm([](const lt::Llvm& llvm) {
    CHECK(llvm.version().find(std::to_string(llvm.major()) + ".") == 0);
    CHECK(lt::Llvm::find(std::to_string(llvm.major())) == &llvm);
    CHECK(lt::Llvm::find(llvm.path()) == &llvm);
  });
}

TEST_CASE("without a choice it is the newest of those that take the most of this machine") {
  if (std::getenv("LATHE_LLVM")) LATHE_SKIP("LATHE_LLVM chooses one");
  const lt::Llvm* chosen = lt::Llvm::find();
  const auto taken = [](const lt::Llvm& llvm) {
    return lt::host().for_llvm(llvm.major()).features.size();
  };
  for_each_llvm([&](const lt::Llvm& llvm) {
    CHECK(taken(llvm) <= taken(*chosen));
    CHECK((taken(llvm) < taken(*chosen) || llvm.major() <= chosen->major()));
  });
}

TEST_CASE("releases before 16 are refused as such even by path") {
  for (const char* file : {"libLLVM-14.so.1", "libLLVM-15.so.1"}) {
    std::string reason;
    CHECK(lt::Llvm::find(file, &reason) == nullptr);
    bool absent = reason.find("No such file") != std::string::npos;
    if (absent)
      MESSAGE("skipped: no " << file);
    else
      CHECK(reason.find("older than 16 is not supported") != std::string::npos);
  }
}

TEST_CASE("no LLVM is an error that says what to do") {
  try {
    lt::Llvm::get("off");
    FAIL("no error");
  } catch (const lt::UserError& e) {
    CHECK(e.id() == "L0410");
    CHECK(e.where().line != 0);
    CHECK(std::string(e.what()).find("LATHE_LLVM") != std::string::npos);
  }
}

TEST_CASE("text becomes an object with the symbols that it names") {
  for_each_llvm([](const lt::Llvm& llvm) {
    lt::LlvmTimes times;
    auto object = lt::compile_to_object(llvm,
                                        "declare ptr @lathe_alloc(ptr, i64, i64)\n"
                                        "define i32 @k(ptr %slots, ptr %rt) {\n"
                                        "  %p = call ptr @lathe_alloc(ptr %rt, i64 8, i64 8)\n"
                                        "  store i64 1, ptr %p\n  ret i32 0\n}\n",
                                        lt::host(), {}, &times);
    lt::Vec<lt::ObjectSymbol> symbols;
    REQUIRE(lt::read_symbols(object.data(), object.size(), symbols));
    bool defines = false, needs = false;
    for (auto& s : symbols) {
      defines |= s.name == "k" && s.defined && s.function && s.global && s.size > 0;
      needs |= s.name == "lathe_alloc" && !s.defined;
    }
    CHECK(defines);
    CHECK(needs);
    CHECK(times.emit_seconds > 0);
  });
}

TEST_CASE("a damaged object is recognised, not read past its end") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto object = lt::compile_to_object(llvm, identity, lt::host());
    lt::Vec<lt::ObjectSymbol> symbols;
    for (std::size_t size = 0; size < object.size(); size += 7) {
      std::vector<char> cut(object.begin(), object.begin() + static_cast<std::ptrdiff_t>(size));
      // The table of sections is the last thing in the file.
      CHECK_FALSE(lt::read_symbols(cut.data(), cut.size(), symbols));
    }
    REQUIRE(lt::read_symbols(object.data(), object.size(), symbols));
    CHECK(symbols.size() == 1);
    const std::size_t most = object.size() / 24;  // a symbol's entry takes 24 bytes
    for (std::size_t i = 0; i < object.size(); ++i) {
      auto bent = object;
      bent[i] = static_cast<char>(~bent[i]);
      symbols.clear();
      if (lt::read_symbols(bent.data(), bent.size(), symbols)) CHECK(symbols.size() <= most);
    }
  });
}

TEST_CASE("text that LLVM refuses is quoted") {
  for_each_llvm([](const lt::Llvm& llvm) {
    auto words = internal_error_of(llvm, "define i32 @k() {\n  ret i33 0\n}\n");
    CHECK(words.find("2:7") != std::string::npos);
    CHECK(words.find("ret i33 0") != std::string::npos);
    words =
        internal_error_of(llvm,
                          "define i32 @k(i32 %x) {\na:\n  br label %b\nb:\n  %z = add i32 %y, 1\n"
                          "  %y = add i32 %x, 1\n  ret i32 %z\n}\n");
    CHECK(words.find("verify") != std::string::npos);
    CHECK(words.find("%y = add i32 %x, 1") != std::string::npos);
    lt::LlvmOptions options{.passes = "function(no-such-pass)"};
    CHECK_THROWS_AS(lt::compile_to_object(llvm, identity, lt::host(), options), lt::InternalError);
  });
}

TEST_CASE("a long run of code without a branch compiles in seconds") {
  // Quadratic scheduling takes minutes over this (LLVM 16: 172 s).
  std::string text =
      "define i32 @long_run(ptr %slots, ptr %rt) nounwind {\n"
      "  %p = load ptr, ptr %slots\n  %d = load i64, ptr %p\n";
  for (int k = 1; k < 4000; ++k) {
    const std::string n = std::to_string(k);
    text += "  %a" + n + " = getelementptr i64, ptr %p, i64 " + n + "\n  %v" + n +
            " = load i64, ptr %a" + n + "\n  %q" + n + " = sdiv i64 %v" + n + ", %d\n  %s" + n +
            " = trunc i64 %q" + n + " to i16\n  %w" + n + " = getelementptr i16, ptr %p, i64 " + n +
            "\n  store i16 %s" + n + ", ptr %w" + n + "\n";
  }
  text += "  ret i32 0\n}\n";
  for_each_llvm([&](const lt::Llvm& llvm) {
    lt::LlvmTimes times;
    lt::compile_to_object(llvm, text, lt::host(), {}, &times);
    CHECK(times.emit_seconds < 20);
  });
}

TEST_CASE("many loops go without the pass that may take exponential time over them") {
  std::string few = "br label %loop, !llvm.loop !1\n", many;
  for (int k = 0; k < 300; ++k) many += few;
  CHECK(lt::default_passes(19, few).find("licm") != std::string::npos);
  CHECK(lt::default_passes(19, many).find("licm") == std::string::npos);
}

TEST_CASE("vector code uses the target's registers") {
#if defined(__x86_64__)
  const char* text =
      "define void @k(ptr %p) \"prefer-vector-width\"=\"512\" {\n  %a = load <16 x float>, ptr %p\n"
      "  %r = call <16 x float> @llvm.fma.v16f32(<16 x float> %a, <16 x float> %a, <16 x float> "
      "%a)\n"
      "  store <16 x float> %r, ptr %p\n  ret void\n}\n"
      "declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)\n";
  for_each_llvm([&](const lt::Llvm& llvm) {
    auto wide = lt::compile_to_assembly(llvm, text, lt::Target("znver4"));
    CHECK(wide.find("zmm") != std::string::npos);
    CHECK(wide.find("vfmadd") != std::string::npos);
    auto narrow = lt::compile_to_assembly(llvm, text, lt::Target("x86-64-v3"));
    CHECK(narrow.find("zmm") == std::string::npos);
    CHECK(narrow.find("ymm") != std::string::npos);
    CHECK(
        lt::compile_to_assembly(llvm, text, lt::Target("znver4").without("avx512f")).find("zmm") ==
        std::string::npos);
  });
#endif
}

TEST_CASE("LLVM prints nothing for any known target, and compiles for all of them") {
  for_each_llvm([](const lt::Llvm& llvm) {
    CapturedStderr captured;
    std::string failures;
    for (const auto& name : lt::known_targets()) {
      lt::Target target(name);
      if (target.kind != lt::TargetKind::cpu) continue;
      try {
        lt::compile_to_object(llvm, identity, target);
      } catch (const std::exception& e) {
        failures += name + ": " + e.what() + "\n";
      }
    }
    CHECK(captured.stop() == "");
    CHECK(failures == "");
  });
}

TEST_CASE("machine code for a GPU is not LLVM's work here") {
  for_each_llvm([](const lt::Llvm& llvm) {
    try {
      lt::compile_to_object(llvm, identity, lt::cuda("sm_90"));
      FAIL("no error");
    } catch (const lt::UserError& e) {
      CHECK(e.id() == "L0411");
      CHECK(e.message() == "this LLVM (" + std::to_string(llvm.major()) +
                               ") has no back end for nvptx64-nvidia-cuda");
    }
  });
}

#if defined(__x86_64__)
TEST_CASE("what makes LLVM abort is an error when the compilation is isolated") {
  // Needs AES instructions, which the target lacks: instruction selection gives up by ending the
  // process.
  const char* fatal =
      "define <2 x i64> @k(<2 x i64> %a) {\n"
      "  %r = call <2 x i64> @llvm.x86.aesni.aesenc(<2 x i64> %a, <2 x i64> %a)\n  ret <2 x i64> "
      "%r\n}\n"
      "declare <2 x i64> @llvm.x86.aesni.aesenc(<2 x i64>, <2 x i64>)\n";
  for_each_llvm([&](const lt::Llvm& llvm) {
    lt::LlvmOptions options{.isolate = true};
    CapturedStderr captured;
    std::string words;
    try {
      lt::compile_to_object(llvm, fatal, lt::Target("x86-64"), options);
    } catch (const lt::InternalError& e) {
      words = e.what();
    }
    CHECK_THROWS_AS(lt::compile_to_assembly(llvm, fatal, lt::Target("x86-64"), options),
                    lt::InternalError);
    CHECK(captured.stop() == "");
    CHECK(words.find("isolated") != std::string::npos);
    CHECK(lt::compile_to_object(llvm, identity, lt::host(), options) ==
          lt::compile_to_object(llvm, identity, lt::host()));
    try {
      lt::compile_to_object(llvm, "nonsense", lt::host(), options);
      FAIL("no error");
    } catch (const lt::InternalError& e) {
      CHECK(std::string(e.what()).find("nonsense") != std::string::npos);
    }
  });
}
#endif
