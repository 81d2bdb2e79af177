// The module that the compiler takes `stat` for on Linux, once Foundation is in the target.
import CoreFoundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file with a secret: read only if no other user can read it.
package enum SecretFile {
    /// Why a file was not read, and what to type. Never what is in it.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        /// One line.
        package let description: String
    }

    /// The longest file read, in bytes. A .p8 file has 257.
    private static let longest = 16 * 1024

    /// The file's text.
    ///
    /// Its owner alone may read it; or else root gives it to a group that this program is in and that may not write it, as
    /// Kubernetes and systemd hand secrets out.
    package static func read(_ path: String) throws(Fault) -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// The file's bytes, under the same conditions as ``read(_:)``.
    package static func bytes(_ path: String) throws(Fault) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Fault(description: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        // Of the file that was opened, not of one that took its name since.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Fault(description: "\(path) is no file")
        }
        let isHandedOut = status.st_uid == 0 && geteuid() != 0 && status.st_mode & 0o037 == 0
        guard isHandedOut || status.st_mode & 0o077 == 0 else {
            throw Fault(description: "\(path) can be read by others; type: chmod 600 \(quoted(path))")
        }
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        var length = 0
        while length < bytes.count {
            let start = length
            let count = bytes.withUnsafeMutableBytes {
                systemRead(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start)
            }
            guard count >= 0 else {
                throw Fault(description: "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            length += count
        }
        guard length <= longest else { throw Fault(description: "\(path) is longer than \(longest) bytes") }
        return Array(bytes[..<length])
    }

    /// For a shell.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain ? path : "'" + path.replacing("'", with: #"'\''"#) + "'"
    }
}

/// The system's `read`, whose name ``SecretFile/read(_:)`` hides.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
