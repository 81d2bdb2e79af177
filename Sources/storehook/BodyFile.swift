import Foundation

/// A file of POST bodies, one a line.
enum BodyFile {
    static func write(_ bodies: SignedBodies, to path: String, _ progress: ProgressBar) throws {
        let file: FileHandle
        if path == "-" {
            file = .standardOutput
        } else {
            guard FileManager.default.createFile(atPath: path, contents: nil),
                let made = FileHandle(forWritingAtPath: path)
            else { throw CommandFailure("cannot write \(path)") }
            file = made
        }
        while let body = bodies.next() {
            try file.write(contentsOf: Data((body + "\n").utf8))
            progress.advance()
        }
        progress.finish()
    }
}
