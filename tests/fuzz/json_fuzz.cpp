// The reader of JSON under libFuzzer: it must not read beyond its end, must take what Boost.JSON
// takes, and what it writes of a document must be read as the same. tests/fuzz/json builds it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "wire/job_json.h"
#include "wire/testing/json_agreement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perdure;
    // Memory of exactly this size: the sanitizer sees a byte that is read behind it.
    const std::unique_ptr<char[]> exact(new char[size]);
    std::copy(data, data + size, exact.get());
    const std::string_view text(exact.get(), size);
    if (!json_testing::agrees(std::string(text))) std::abort();
    JsonTree tree;
    if (!tree.read(text, JsonTree::Manner::strict)) return 0;
    const auto written = canonical(tree.root());
    JsonTree again;
    if (!again.read(written, JsonTree::Manner::strict)) std::abort();
    if (canonical(again.root()) != written) std::abort();
    return 0;
}
