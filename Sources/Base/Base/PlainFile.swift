import Foundation
import Glibc

/// A file that an operator has named, read whole, as it stood when it was opened.
///
/// Only a plain file is read: a named pipe or a device would keep the program waiting, or change with each look.
package struct PlainFile: Sendable {
    /// Why a file was not read.
    package enum Fault: Error, Sendable, Hashable {
        /// It cannot be opened or read; the text is the system's.
        case unreadable(String)
        /// It is a directory, a named pipe, a device or a socket.
        case notPlain
        /// It is longer than that many bytes.
        case tooLong(Int)

        /// What follows the file's name in a sentence.
        package var predicate: String {
            switch self {
            case .unreadable(let why): "cannot be read: \(why)"
            case .notPlain: "is no plain file; name a file, and no directory, pipe or device"
            case .tooLong(let most): "is longer than \(most) bytes"
            }
        }
    }

    /// Distinguishes one state of a file from another.
    package struct Stamp: Sendable, Hashable {
        private let device: UInt
        private let inode: UInt
        private let size: Int
        private let seconds: Int
        private let nanoseconds: Int

        /// When the file was last written, in seconds since 1970.
        package var writtenAt: Int64 { Int64(seconds) }

        /// The stamp of the file that has this name; nil where there is none.
        package init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(status)
        }

        fileprivate init(_ status: stat) {
            device = UInt(status.st_dev)
            inode = UInt(status.st_ino)
            size = Int(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    /// What is in it.
    package let bytes: [UInt8]
    /// Its state.
    package let stamp: Stamp
    /// Its permission bits.
    package let permissions: UInt32
    /// The user who owns it.
    package let owner: UInt32

    /// Why a file cannot be read, and what to do.
    /// - Parameters:
    ///   - code: errno(3).
    ///   - path: the file's name, as the operator gave it.
    package static func reason(_ code: Int32, _ path: String) -> String {
        let why = String(cString: strerror(code))
        switch code {
        case EACCES, EPERM:
            return
                "\(why) to user \(NSUserName()): let that user, or a group of it, read the file and enter its directories"
        case ENOENT, ENOTDIR:
            let place = path.hasPrefix("/") ? "" : "; it was sought from \(FileManager.default.currentDirectoryPath)"
            return "\(why)\(place): correct the path, or make the file"
        default: return why
        }
    }

    /// Why the file of this name cannot be read now, likewise; nil where it can.
    package static func unreadable(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { return reason(errno, path) }
        return status.st_mode & S_IFMT == S_IFDIR ? "it is a directory; name a file in it" : nil
    }

    /// Reads it.
    /// - Parameter most: the longest file that is read, in bytes.
    package init(_ path: String, upTo most: Int) throws(Fault) {
        // Opening a named pipe would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .unreadable(Self.reason(errno, path)) }
        defer { close(descriptor) }
        var status = stat()
        // Of what is open, and not of what has its name by now.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .notPlain }
        guard status.st_size <= most else { throw .tooLong(most) }
        var bytes = [UInt8](repeating: 0, count: most + 1)
        var count = 0
        while count <= most {
            let part = bytes.withUnsafeMutableBytes { [count] in
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard part >= 0 else { throw .unreadable(Self.reason(errno, path)) }
            if part == 0 { break }
            count += part
        }
        guard count <= most else { throw .tooLong(most) }
        self.bytes = Array(bytes[..<count])
        stamp = Stamp(status)
        permissions = status.st_mode & 0o7777
        owner = status.st_uid
    }
}
