package import AuditStore
import Foundation

/// Reads the places and hashes of an export again, a line at a time.
package struct AuditExportReader {
    /// Why a file is no export.
    package struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// One line: what is wrong, and what to do.
        package let description: String
    }

    private let file: FileHandle
    private var buffer: [UInt8] = []
    private var start = 0
    private var last = AuditMark.start
    private var line = 0
    private var isEnded = false
    /// A row holds a reason, and before and after: more than this is no row.
    private static let longest = 1 << 20

    /// Opens a file.
    /// - Throws: what opening it throws.
    package init(_ path: String) throws {
        file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }

    /// The next row's mark; nil behind the last one.
    /// - Throws: ``Fault`` where the file is no export, or a part of one.
    package mutating func next() throws -> AuditMark? {
        while !isEnded {
            guard let text = try nextLine() else {
                throw Fault(
                    description: "the export does not end with a count and a hash: it is not whole, so export again")
            }
            line += 1
            guard !text.isEmpty, !(line == 1 && text.hasPrefix("place,")) else { continue }
            if let end = Self.end(text) {
                guard end == last else {
                    throw Fault(
                        description: "the export ends with the count \(end.place), and its last row is \(last.place)")
                }
                isEnded = true
                return nil
            }
            guard let mark = Self.mark(text), mark.place == last.place + 1 else {
                throw Fault(description: "line \(line) of the export is not row \(last.place + 1) of an audit")
            }
            last = mark
            return mark
        }
        return nil
    }

    private static func end(_ line: String) -> AuditMark? {
        if line.hasPrefix("{") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let count = object["count"] as? Int64, let hash = object["hash"] as? String
            else { return nil }
            return AuditMark(place: count, hexHash: hash)
        }
        let parts = line.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "count", parts[2] == "hash", let count = Int64(parts[1]) else { return nil }
        return AuditMark(place: count, hexHash: parts[3])
    }

    private static func mark(_ line: String) -> AuditMark? {
        if line.hasPrefix("{") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let place = object["place"] as? Int64, let hash = object["hash"] as? String
            else { return nil }
            return AuditMark(place: place, hexHash: hash)
        }
        guard let first = line.firstIndex(of: ","), let last = line.lastIndex(of: ","),
            let place = Int64(line[..<first])
        else { return nil }
        return AuditMark(place: place, hexHash: line[line.index(after: last)...])
    }

    private mutating func nextLine() throws -> String? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return String(decoding: buffer[start..<end], as: UTF8.self)
            }
            buffer.removeFirst(start)
            start = 0
            guard buffer.count < Self.longest else {
                throw Fault(description: "line \(line + 1) of the export is no row of an audit")
            }
            guard let more = try file.read(upToCount: 1 << 16), !more.isEmpty else {
                guard !buffer.isEmpty else { return nil }
                defer { buffer = [] }
                return String(decoding: buffer, as: UTF8.self)
            }
            buffer += more
        }
    }
}
