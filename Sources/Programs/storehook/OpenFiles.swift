import HTTPKit
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// How many files and connections this process may have open.
enum OpenFiles {
    /// Raises the soft limit to the hard one, and returns the new limit.
    ///
    /// The usual soft limit of 1024 is for programs that call select(2). A receiver at that limit accepts no
    /// connection: a handful of idle strangers could shut Apple out.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let which = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let which = RLIMIT_NOFILE
        #endif
        guard getrlimit(which, &limit) == 0 else { return 1024 }
        var raised = limit
        // More than is ever used, and accepted by systems without a limit.
        raised.rlim_cur = min(limit.rlim_max, 1 << 20)
        if raised.rlim_cur > limit.rlim_cur, setrlimit(which, &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }

    /// Descriptors that are no sender's: files, database connections, event loops.
    private static let ownDescriptors = 128

    /// Raises the limit, and lets a server hold no more connections than it allows.
    static func fit(_ http: inout HTTPServerConfiguration, logger: Logger) {
        let descriptors = raiseLimit()
        guard descriptors - ownDescriptors < http.maximumConnections + http.closingConnections else { return }
        // Those that are closing have a file open, too: a sixteenth of the others.
        http.maximumConnections = max(1, (descriptors - ownDescriptors) * 16 / 17 - 16)
        logger.warning(
            "Fewer connections than usual: raise the hard limit of open files (ulimit -Hn)",
            metadata: ["connections": "\(http.maximumConnections)", "open_files": "\(descriptors)"])
    }
}
