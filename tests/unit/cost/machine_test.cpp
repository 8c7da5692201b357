#include <doctest/doctest.h>

#include <lathe/cost/machine.hpp>
#include <string>
#if !defined(LATHE_SEPARATE_COMPILATION)
#include <lathe/cost/impl/layer.ipp>
#endif

using namespace lathe;

namespace {

std::string refused(const std::string& text) {
  try {
    Machine::parse(text);
  } catch (const UserError& e) {
    return e.id() + " " + e.message();
  }
  return "";
}

}  // namespace

TEST_CASE("the row of a machine follows from its target") {
  const Machine wide(Target("znver5")), halves(Target("znver4")), narrow(Target("x86-64-v3"));
  CHECK(wide.vector_bytes == 64);
  CHECK(wide.loads == 2);
  CHECK(halves.vector_bytes == 64);
  CHECK(halves.loads == 1);  // moves and computes 64 bytes in two halves
  CHECK(halves.fmas == 1);
  CHECK(narrow.vector_bytes == 32);
  CHECK(Machine(Target("neoverse-v1")).vector_bytes == 16);
  CHECK(Machine(Target("sapphirerapids")).l3_speed < wide.l3_speed);  // behind a mesh
}

TEST_CASE("a machine is printed and parsed") {
  Machine m(Target("znver4"));
  m.clock = 3.25e9, m.memory_speed = 17.5e9, m.cores = 12, m.source = "by hand, today";
  const Machine back = Machine::parse(m.str());
  CHECK(back.str() == m.str());
  CHECK(back.name == "znver4");
  CHECK(back.source == "by hand, today");
  CHECK(back.clock == 3.25e9);
  CHECK(Machine::parse("machine znver4\n  cores 3\n").l2_bytes == m.l2_bytes);
  CHECK(Machine::parse("machine toaster\n\n\tcores 3  \n").name == "toaster");
}

TEST_CASE("nonsense in the row of a machine is refused with the field") {
  CHECK(refused("").find("L0414") == 0);
  CHECK(refused("plan znver4").find("L0414") == 0);
  CHECK(refused("machine \n cores 3").find("L0414") == 0);
  CHECK(refused("machine a\n speed 3").find("L0414 field 'speed' of a machine is unknown") == 0);
  CHECK(refused("machine a\n clock fast").find("field 'clock' of a machine is 'fast'") !=
        std::string::npos);
  for (const char* value : {"0", "-1", "nan", "inf", "1e40", ""})
    CHECK(refused(std::string("machine a\n clock ") + value).find("field 'clock'") !=
          std::string::npos);
  CHECK(refused("machine a\n cores 0.5").find("not from 1.0 to") != std::string::npos);
}
