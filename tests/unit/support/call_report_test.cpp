// What the status of a call stands for.
#include <doctest/doctest.h>

#include <lathe/support/call_report.hpp>
#include <stdexcept>
#include <support/errors.hpp>
#include <thread>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/support/impl/layer.ipp>
#endif

namespace lt = lathe;
using test::error_of;

namespace {

/// The error of a call with two assertions that ends so.
std::string ends(lt::CallReport& call, std::int32_t status) {
  const std::string assertions[] = {"n is even", "'X' has no element [{0}, {1}]\nY[i] = X[i]"};
  return error_of([&] { call.finish(status, {"k", assertions, 2}, lt::Location::here()); });
}
std::string ends(std::int32_t status) {
  lt::CallReport call(lt::Context::default_context());
  return ends(call, status);
}
constexpr auto kAssertion = static_cast<std::int32_t>(lt::Status::assertion);

}  // namespace

TEST_CASE("a status is an error, or none") {
  CHECK(ends(0) == "none");
  CHECK(ends(static_cast<std::int32_t>(lt::Status::out_of_memory)) ==
        "L0406 kernel 'k': no memory for its temporaries");
  CHECK(ends(kAssertion) == "L0407 kernel 'k': n is even");
  CHECK(ends(kAssertion + 7) == "L0407 kernel 'k': assertion 7");
  lt::CallReport call(lt::Context::default_context());
  CHECK_THROWS_AS(call.finish(5, {"k"}, lt::Location::here()), lt::InternalError);
}

TEST_CASE("what a failed assertion looked at is in its words") {
  lt::CallReport call(lt::Context::default_context());
  const std::int64_t values[] = {kAssertion + 1, 4, -2};
  for (std::int64_t k = 0; k < 3; ++k) call.report(k, values[k]);
  call.report(1, 9);  // the second time
  std::thread([&] { call.report(3, 5); }).join();
  CHECK(ends(call, kAssertion) == "L0409 kernel 'k': 'X' has no element [4, -2]");
}

TEST_CASE("the host's first exception comes through") {
  lt::CallReport call(lt::Context::default_context());
  for (const char* what : {"first", "second"}) try {
      throw std::runtime_error(what);
    } catch (...) {
      call.keep_exception();
    }
  CHECK_THROWS_WITH_AS(call.finish(static_cast<std::int32_t>(lt::Status::host_exception), {"k"},
                                   lt::Location::here()),
                       "first", std::runtime_error);
}
