// SPDX-License-Identifier: Apache-2.0
// The verdicts derived on paper, stated here once more, so that a derivation and its checks cannot
// drift together unseen.
#pragma once

#include <map>
#include <string>

inline const std::map<std::string, std::string> verdicts_alibi = {
    {"alibi/eight_slopes", "holds"},
    {"alibi/code_slopes_official", "holds_under_condition"},
    {"alibi/geometric_slopes", "holds_under_condition"},
    {"alibi/code_bias", "holds_under_condition"},
    {"alibi/bias_place", "holds_under_condition"},
    {"alibi/translation_invariance", "holds"},
    {"alibi/preferences_preserved", "holds"},
    {"alibi/further_less_attention", "holds_under_condition"},
    {"alibi/steep_head_is_local", "holds"},
    {"alibi/gentle_head_reaches_far", "holds_under_condition"},
    {"alibi/rope_rotation_invariance", "holds"},
};
