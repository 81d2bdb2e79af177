#if canImport(Glibc)
    import Glibc
#endif

/// The three descriptors that a program is started with, and the signal of a pipe without a reader.
enum StandardStreams {
    /// Whether the program was started with SIGPIPE ignored, as by systemd and some schedulers.
    nonisolated(unsafe) private static var ignoresPipe = false

    /// Before anything else: keeps 0, 1 and 2 from being given to other files, and makes a write without a reader fail instead of ending
    /// the program.
    ///
    /// Where one of the three is closed, the next file that is opened would get its number, and answers or logs would go into a
    /// connection to the database. What stands there instead fails every read and every write of answers; logs are dropped.
    static func prepare() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is this one.
            _ = open("/dev/null", mode)
        }
        var old = sigaction()
        sigaction(SIGPIPE, nil, &old)
        ignoresPipe = unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1
        signal(SIGPIPE, SIG_IGN)
    }

    /// Ends the program by SIGPIPE, as if it had never ignored it; returns where that signal was ignored from the start.
    static func endByPipe() {
        guard !ignoresPipe else { return }
        signal(SIGPIPE, SIG_DFL)
        var only = sigset_t()
        sigemptyset(&only)
        sigaddset(&only, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &only, nil)
        raise(SIGPIPE)
    }
}
