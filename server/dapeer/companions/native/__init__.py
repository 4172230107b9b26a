"""What GDB and LLDB load, for programs in C, C++ and Rust."""
