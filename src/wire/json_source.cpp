// Boost.JSON is compiled here and nowhere else.
#include <boost/json/src.hpp>
