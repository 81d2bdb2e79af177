/// The lines of a report, one at a time: as a list they would take more memory than the file.
struct ReportLines: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var place = 0
    private var number = 0

    /// - Parameters:
    ///   - file: as it was downloaded, compressed or not.
    ///   - limit: the most bytes of its text.
    init(_ file: [UInt8], atMost limit: Int) throws(ReportRefusal) {
        bytes = Gzip.isCompressed(file) ? try Gzip.inflated(file, atMost: limit) : file
        guard bytes.count <= limit else {
            throw ReportRefusal("the file has more than \(limit >> 20) MiB; a report has less")
        }
        // A byte order mark is no part of the first name.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    /// The next line without its end, with its number from 1 on.
    mutating func next() -> (number: Int, bytes: ArraySlice<UInt8>)? {
        guard place < bytes.count else { return nil }
        number += 1
        let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        var line = bytes[place..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        place = end + 1
        return (number, line)
    }
}
