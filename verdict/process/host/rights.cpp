// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/rights.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plumbline::kernel_process {

void give_up_rights() {
  const unsigned kept = geteuid() == 0 ? 1U << CAP_DAC_OVERRIDE : 0;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // The last capability that this system has is the last that there is something to say about.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (capability >= 32 || (kept >> capability & 1U) == 0) {
      prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capget, &header, sets) != 0) return;
  for (auto& set : sets) {
    const unsigned allowed = &set == sets ? kept : 0;
    set.effective &= allowed;
    set.permitted &= allowed;
    set.inheritable = 0;
  }
  syscall(SYS_capset, &header, sets);
}

}  // namespace plumbline::kernel_process
