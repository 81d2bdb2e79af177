import Foundation

/// A file of POST bodies, one a line.
enum BodyFile {
    /// Writes them; `-` is standard output.
    /// - Throws: `OutputLoss`; `CommandFailure`, naming the file and why it could not be written.
    static func write(_ bodies: SignedBodies, to path: String, _ progress: ProgressBar) throws {
        if path == "-" {
            while let body = bodies.next() {
                StandardOutput.line(body)
                try StandardOutput.check()
                progress.advance()
            }
            return progress.finish()
        }
        // Opened in place, not replaced: a special file (a pipe, /dev/null) stays what it is.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(path, errno) }
        while let body = bodies.next() {
            if let code = Descriptor.write(Array((body + "\n").utf8), to: descriptor) {
                close(descriptor)
                throw failure(path, code)
            }
            progress.advance()
        }
        // Some file systems say only now that they are full.
        guard close(descriptor) == 0 || errno == EINTR else { throw failure(path, errno) }
        progress.finish()
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure("cannot write \(path): \(String(cString: strerror(code))); make room, or name another file")
    }
}
