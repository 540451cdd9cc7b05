// SPDX-License-Identifier: Apache-2.0
// The source of a program that is there for its precompiled headers (cmake/PlumblineTargets.cmake).
