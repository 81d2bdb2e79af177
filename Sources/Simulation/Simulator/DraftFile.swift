#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that is written under a temporary name first, so that readers see either the whole old file or the whole new
/// one.
///
/// A draft that is not committed is overwritten by the next one.
public struct DraftFile: Sendable {
    /// Why it could not be written.
    public struct Fault: Error, Sendable, CustomStringConvertible {
        /// One line, with the file and what the system said.
        public let description: String
    }

    private let path: String
    private let draft: String
    private let descriptor: Int32

    /// Begins one.
    /// - Parameter mode: the file's permissions, in force from the first byte on.
    public init(_ path: String, mode: UInt32) throws(Fault) {
        self.path = path
        draft = path + ".new"
        unlink(draft)
        descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw Fault(description: "cannot write \(path): \(Self.reason())") }
    }

    /// Adds to it.
    public func append(_ bytes: [UInt8]) throws(Fault) {
        guard Self.append(bytes, to: descriptor) else {
            throw Fault(description: "cannot write \(path): \(Self.reason())")
        }
    }

    /// Writes bytes to a descriptor, all of them; false with `errno` set if that fails.
    public static func append(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }

    /// Puts it in its place, on the disk: a machine that loses power has the one or the other.
    /// - Returns: its descriptor, open for appending.
    public func commitOpen() throws(Fault) -> Int32 {
        guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
            let reason = Self.reason()
            close(descriptor)
            throw Fault(description: "cannot write \(path): \(reason)")
        }
        // The name is the directory's.
        let directory = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
        let parent = open(directory.isEmpty ? "/" : String(directory), O_RDONLY | O_CLOEXEC)
        if parent >= 0 {
            fsync(parent)
            close(parent)
        }
        return descriptor
    }

    /// Puts it in its place, and closes it.
    public func commit() throws(Fault) { close(try commitOpen()) }

    /// Gives it up.
    public func discard() {
        close(descriptor)
        unlink(draft)
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
