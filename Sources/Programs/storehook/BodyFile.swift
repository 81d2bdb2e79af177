import Foundation

/// A file of POST bodies, one a line.
enum BodyFile {
    static func write(_ bodies: SignedBodies, to path: String, _ progress: ProgressBar) throws {
        let file: FileHandle
        if path == "-" {
            file = .standardOutput
        } else {
            // Opened in place, not replaced: a special file (a pipe, /dev/null) stays what it is.
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw CommandFailure("cannot write \(path)") }
            file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }
        while let body = bodies.next() {
            try file.write(contentsOf: Data((body + "\n").utf8))
            progress.advance()
        }
        progress.finish()
    }
}
