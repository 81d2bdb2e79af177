#if canImport(Glibc)
    import Glibc
#endif

/// Writing to descriptors; every failure is returned.
enum Descriptor {
    /// Writes all bytes, however often the system takes only a part.
    /// - Parameter end: until when they have to be taken; nil waits for a reader as long as it takes.
    /// - Returns: nil, or why not all was written (errno(3)).
    static func write(_ bytes: [UInt8], to descriptor: Int32, until end: ContinuousClock.Instant? = nil) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            if let end, !isWritable(descriptor, until: end) { return ETIMEDOUT }
            // A pipe that is writable takes so much without waiting (PIPE_BUF, pipe(7)).
            let part = end == nil ? rest : rest.prefix(4096)
            let written = part.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // Others share the descriptor and may have made it one that does not wait.
                _ = isWritable(descriptor, until: .now + .seconds(1))
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    private static func isWritable(_ descriptor: Int32, until end: ContinuousClock.Instant) -> Bool {
        repeat {
            let left = max(.zero, end - .now)
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // What has failed is written to all the same, to learn why.
            if Glibc.poll(&poll, 1, Int32(clamping: Int64(left / .milliseconds(1)) + 1)) > 0 { return true }
        } while ContinuousClock.now < end
        return false
    }
}
