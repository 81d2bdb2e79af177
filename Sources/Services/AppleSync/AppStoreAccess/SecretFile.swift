import Base

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
        let file: PlainFile
        do { file = try PlainFile(path, upTo: longest) } catch .unreadable(let why) {
            throw Fault(description: "cannot read \(path): \(why)")
        } catch {
            throw Fault(description: "\(path) \(error.predicate)")
        }
        let isHandedOut = file.owner == 0 && geteuid() != 0 && file.permissions & 0o037 == 0
        guard isHandedOut || file.permissions & 0o077 == 0 else {
            throw Fault(description: "\(path) can be read by others; type: chmod 600 \(quoted(path))")
        }
        return file.bytes
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
