import Foundation
import Glibc

/// A file with keys, as it stood when it was looked at.
struct TokenKeyFile: Sendable, Hashable {
    /// Distinguishes one state of a file from another.
    struct Stamp: Sendable, Hashable {
        let device: UInt
        let inode: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    /// The most bytes that are read: a hundred keys take less.
    static let most = 1 << 20

    let stamp: Stamp
    let bytes: [UInt8]
    /// Whether only its owner and its group can read it.
    let isPrivate: Bool

    /// The file's stamp, which differs once the file has changed; nil where there is no file.
    static func stamp(of path: String) -> Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Stamp(status)
    }

    /// Reads it.
    /// - Throws: `TokenKeySet.Fault`.
    init(path: String) throws(TokenKeySet.Fault) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw TokenKeySet.Fault(description: "cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        // Of what is open, and not of what has its name by now.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw TokenKeySet.Fault(description: "is no file")
        }
        guard status.st_size <= Self.most else { throw TokenKeySet.Fault(description: "is longer than 1 MiB") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        guard let data = try? handle.read(upToCount: Self.most) else {
            throw TokenKeySet.Fault(description: "is empty, or cannot be read")
        }
        stamp = Stamp(status)
        bytes = Array(data)
        isPrivate = status.st_mode & (S_IRWXO | S_IWGRP) == 0
    }
}

extension TokenKeyFile.Stamp {
    fileprivate init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        size = Int(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
