import Foundation

/// A file with evidence, or standard input.
enum EvidenceFile {
    /// Reads it. A line end after the text comes from an editor and is dropped. Binary data (a receipt in DER) is kept
    /// as it is.
    ///
    /// - Parameter limit: the most bytes that are taken, the line's end not among them.
    /// - Throws: `CommandFailure` where it cannot be read or is longer.
    static func read(_ file: String, upTo limit: Int, isReceipt: Bool) throws -> [UInt8] {
        // The line's end, in either spelling, is no part of it.
        let most = limit + 2
        let data: Data?
        if file == "-" {
            data = try FileHandle.standardInput.read(upToCount: most + 1) ?? Data()
        } else {
            guard let handle = FileHandle(forReadingAtPath: file) else {
                throw CommandFailure.unreadable(file)
            }
            do { data = try handle.read(upToCount: most + 1) } catch { throw CommandFailure.unreadable(file) }
        }
        var bytes = [UInt8](data ?? Data())
        if bytes.allSatisfy({ $0 < 0x80 }) {
            while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard bytes.count <= limit else {
            throw CommandFailure(
                "more than \(limit) bytes" + (isReceipt ? "" : "; Apple's are under 20000"), status: .usage)
        }
        return bytes
    }
}
