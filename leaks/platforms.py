"""Frames of the platforms below a project: the kernel's checkers and allocators, and the CUDA runtime and driver.

They are told by the whole text of a frame, because their names alone are too common: `print_report` may be anybody's function, but
`print_report+0x163/0x540` is the kernel's.
"""

import re

# `NAME+0xOFF/0xLEN [module] FILE:LINE [inline]`; a frame without an offset is an inlined one and has a file.
IN_KERNEL = r"^(?=\S+\+0x[0-9a-f]+/0x|.* \[inline\]$|\S+ (?:mm|kernel|lib|arch|include|fs|net|drivers|block|security|io_uring)/\S+$)"
KERNEL_CHECKER = re.compile(
    IN_KERNEL
    + r"(?:(?:__)?(?:dump_stack(?:_lvl)?|dump_backtrace|show_stack|show_trace_log_lvl|unwind_backtrace|print_report"
    r"|print_address_description\w*|end_report|report_bug|check_memory_region\w*|check_region_inline|memory_is_\w+|ubsan_\w+|kasan_\w+"
    r"|kmsan_\w+|kcsan_\w+|kfence_\w+|check_access|find_watchpoint|save_stack\w*|set_track\w*|set_page_owner|stack_trace_\w+"
    r"|post_alloc_hook|arch_stack_walk|mem(?:cpy|set|move|cmp|chr|scan)\w*|str(?:lcpy|scpy|ncpy|cpy|len|nlen|cmp|ncmp|cat)\w*)"
    r"(?:\.\w+)*(?=[+ ])|\S+ (?:\[\S+\] )?(?:mm/(?:kasan|kmsan|kfence)/|kernel/kcsan/|lib/(?:dump_stack|ubsan|stackdepot)\.c:))"
)
KERNEL_ALLOCATOR = re.compile(
    IN_KERNEL
    + r"(?:(?:__|___)?(?:k[mvz]?m?alloc\w*|k[mvz]*alloc\w*|kcalloc\w*|krealloc\w*|kv?free\w*|kfree\w*|kmem_cache_\w+|slab_\w+|vmalloc\w*"
    r"|vzalloc\w*|vfree\w*|kmemdup\w*|kstrn?dup\w*|kmemleak_\w+|do_kmalloc\w*|do_slab_free|alloc_pages\w*|get_free_pages\w*|cache_\w+_alloc"
    r"|get_page_from_freelist|qlist_free_all|qlink_free|rcu_free_\w+|alloc_slab_page|allocate_slab|new_slab)(?:\.\w+)*(?=[+ ])"
    r"|\S+ (?:\[\S+\] )?(?:mm/(?:slub|slab|slab_common|util|vmalloc|kmemleak|page_alloc|mempolicy|mempool)\.[ch]:|include/linux/(?:slab|gfp)\.h:))"
)
# What stands inline in headers is to the kernel what the standard library is to a program.
KERNEL_HELPER = re.compile(
    IN_KERNEL + r"(?:\S+ (?:\[\S+\] )?\S+\.h:\d+ \[inline\]$"
    r"|\S+ (?:\[\S+\] )?(?:\./)?(?:include/(?:linux|asm-generic)/|arch/\w+/(?:include|lib|kernel/(?:stacktrace|dumpstack|unwind))"
    r"|kernel/locking/|lib/(?:list_debug|refcount|rwsem|usercopy)\.c:)"
    r"|_*(?:raw_)?(?:spin|read|write|mutex|down|up)_(?:lock|unlock|trylock|read|write)\w*\+0x|_*lock_acquire\w*\+0x|refcount_\w+\+0x"
    r"|_*list_(?:add|del)\w*\+0x|_*copy_(?:to|from)_(?:user|iter)\w*\+0x|ret_from_fork\w*\+0x|entry_SYSCALL_\w+\+0x|do_syscall_\w+\+0x"
    r"|asm_\w+\+0x|el0t?_\w+\+0x|_*(?:do|se|x64|ia32|arm64)_sys_\w+\+0x)"
)
# `NAME [0xOFF] …` of compute-sanitizer and `in NAME (MODULE+0xOFF)` of the others: functions of the toolkit never have a source line.
CUDA_RUNTIME = re.compile(
    r"^(?:in )?(?:[\w:]+ )?(?:cuda[A-Z]\w*|cu[A-Z][a-zA-Z0-9]*(?:_v\d)?(?:_pt[ds][sz])?|__cudart\w*|cudart::\S*|libcudart_static_\w+"
    r"|__device_stub__\w*|(?:cublas|cudnn|cufft|cusparse|curand|cusolver|nccl|nvrtc)[A-Z_]\w*)(?:<[^\[(]{0,400})?(?:\([^\[]{0,800}\))? ?"
    r"(?:\[0x[0-9a-fA-F]+\](?: in \S+)?$|\([^()]*\+0x[0-9a-f]+\))"
)
