// SPDX-License-Identifier: Apache-2.0
#include "python/native/native.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "support/error.hpp"

namespace plumbline::python {
namespace {

Json answer_to(const std::string& function, const char* arguments, plumbline_native_ask ask) {
  static const Functions functions = [] {
    Functions all = oracle_functions();
    all.merge(check_functions());
    all.merge(device_functions());
    return all;
  }();
  return functions.at(function)(Json::parse(arguments), ask);
}

Json error_in_words(const char* type, const std::exception& error) {
  return {{"type", type}, {"arguments", Json::array({error.what()})}};
}

/// The exception that is being handled.
Json current_error() {
  try {
    throw;
  } catch (const BadInput& error) {
    return error_in_words("ValueError", error);
  } catch (const std::logic_error& error) {  // an argument of an equation's
    return error_in_words("ValueError", error);
  } catch (const WrongType& error) {
    return error_in_words("TypeError", error);
  } catch (const std::bad_alloc& error) {
    return error_in_words("MemoryError", error);
  } catch (const std::exception& error) {
    const Json of_device = device_error(error);
    return of_device.is_null() ? error_in_words("RuntimeError", error) : of_device;
  } catch (...) {
    return error_in_words("RuntimeError", std::runtime_error("an exception without words"));
  }
}

}  // namespace
}  // namespace plumbline::python

extern "C" {

int32_t plumbline_native_call(const char* function, const char* arguments, plumbline_native_ask ask,
                              char** answer) {
  using namespace plumbline::python;
  int32_t status = 0;
  Json said;
  try {
    said = answer_to(function, arguments, ask);
  } catch (...) {
    status = 1;
    said = current_error();
  }
  // Names out of PTX may be no UTF-8.
  *answer = strdup(said.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  return status;
}

void plumbline_native_free(char* answer) { std::free(answer); }

void plumbline_native_release(uint64_t owner) {
  delete reinterpret_cast<std::shared_ptr<void>*>(owner);
}
}
