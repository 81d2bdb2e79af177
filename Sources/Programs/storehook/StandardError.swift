#if canImport(Glibc)
    import Glibc
#endif

/// Standard error, where everything goes that is no answer.
enum StandardError {
    /// Whether a person is reading.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes one line.
    static func line(_ text: String) { write(text + "\n") }

    /// Writes text as it is; a closed standard error is ignored.
    static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
