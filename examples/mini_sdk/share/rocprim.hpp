// A library of headers only.
#pragma once
