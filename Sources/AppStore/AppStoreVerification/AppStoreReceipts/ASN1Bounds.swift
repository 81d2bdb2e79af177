import SwiftASN1

/// Bounds for the ASN.1 library, which holds every value of a text in memory at once: some 100 bytes for each, while
/// two bytes of text can make a value.
enum ASN1Bounds {
    /// How many values one text may have. A receipt of ten thousand purchases has forty thousand in its outer set;
    /// each purchase's contents are a text of their own.
    static let mostValues = 131_072
    /// How deep values may nest; Apple's reach 11.
    static let mostDepth = 32

    /// Parses a text after checking its bounds.
    ///
    /// - Throws: ``ReceiptFault``.
    static func parse(_ bytes: ArraySlice<UInt8>) throws(ReceiptFault) -> ASN1Node {
        guard isWithin(bytes) else { throw .beyondBounds }
        do {
            return try BER.parse(bytes)
        } catch {
            throw .notASN1
        }
    }

    /// Whether a text is within the bounds. For text that is not ASN.1 either answer will do: the library rejects it.
    private static func isWithin(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            // The ends of the values around the current place; for a value of indefinite length, the whole text's end.
            var ends = [bytes.count]
            var place = 0
            var values = 0
            while place < bytes.count {
                while let end = ends.last, place >= end, ends.count > 1 { ends.removeLast() }
                let tag = bytes[place]
                place += 1
                if tag & 0x1F == 0x1F {
                    while place < bytes.count, bytes[place] & 0x80 != 0 { place += 1 }
                    place += 1
                }
                guard place < bytes.count else { return true }
                let first = bytes[place]
                place += 1
                values += 1
                guard values <= mostValues else { return false }
                if tag == 0, first == 0 {
                    // The end-of-contents octets.
                    if ends.count > 1 { ends.removeLast() }
                    continue
                }
                var length = Int(first)
                var isMarked = false
                if first & 0x80 != 0 {
                    let digits = Int(first & 0x7F)
                    isMarked = digits == 0
                    length = 0
                    for _ in 0..<digits {
                        guard place < bytes.count, length <= bytes.count else { return true }
                        length = length << 8 | Int(bytes[place])
                        place += 1
                    }
                }
                guard isMarked || length <= bytes.count - place else { return true }
                if tag & 0x20 == 0 {
                    place += length
                } else {
                    ends.append(isMarked ? bytes.count : place + length)
                    guard ends.count <= mostDepth + 1 else { return false }
                }
            }
            return true
        }
    }
}
