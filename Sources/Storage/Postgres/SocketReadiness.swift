import Glibc

/// The result of `poll(2)`; both false: the time was up or the pipe was poked.
struct SocketReadiness {
    var canRead = false
    var canWrite = false
}

/// Waits for a socket, a poke, or the deadline. Errors of the socket count as readable: libpq then finds them.
func waitForSocket(
    _ socket: Int32, toRead: Bool, toWrite: Bool, wake: WakePipe, until deadline: ContinuousClock.Instant?
) -> SocketReadiness {
    let events = Int16((toRead ? POLLIN : 0) | (toWrite ? POLLOUT : 0))
    var entries = [
        pollfd(fd: socket, events: events, revents: 0), pollfd(fd: wake.readEnd, events: Int16(POLLIN), revents: 0),
    ]
    var timeout: Int32 = -1
    if let deadline {
        let left = deadline - .now
        // Rounded up, so that the last millisecond is waited for rather than spun through.
        let milliseconds = left.components.seconds.multipliedReportingOverflow(by: 1000)
        timeout =
            left <= .zero
            ? 0 : Int32(clamping: milliseconds.partialValue + left.components.attoseconds / 1_000_000_000_000_000 + 1)
        if milliseconds.overflow { timeout = -1 }
    }
    // EINTR and the like end the wait early; every caller checks its own conditions again.
    guard poll(&entries, 2, timeout) > 0 else { return SocketReadiness() }
    if entries[1].revents != 0 { wake.drain() }
    let found = Int32(entries[0].revents)
    return SocketReadiness(
        canRead: found & (POLLIN | POLLERR | POLLHUP | POLLNVAL) != 0, canWrite: found & (POLLOUT | POLLERR) != 0)
}
