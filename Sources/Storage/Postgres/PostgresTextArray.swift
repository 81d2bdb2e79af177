/// Texts for a `text[]`, each written directly into the message: for long ones that are not needed as strings.
public struct PostgresTextArray: PostgresEncodable, Sendable {
    private var elements: [UInt8] = []
    private var count = 0
    private var hasNulls = false

    /// None so far.
    public init() {}

    /// `text[]`.
    public static var postgresType: PostgresType { .textArray }

    /// Adds a NULL.
    public mutating func appendNull() {
        count += 1
        hasNulls = true
        elements.append(bigEndian: Int32(-1))
    }

    /// Adds a text.
    /// - Parameter write: appends it, in UTF-8, to the buffer, and leaves the buffer's present bytes alone.
    public mutating func append(_ write: (inout [UInt8]) -> Void) {
        count += 1
        let start = elements.count
        elements.append(bigEndian: Int32(0))
        write(&elements)
        elements.overwrite(at: start, bigEndian: Int32(clamping: elements.count - start - 4))
    }

    /// Appends the array's binary form.
    public func encode(into buffer: inout [UInt8]) {
        ArrayForm.begin(count, of: String.postgresType, hasNulls: hasNulls, into: &buffer)
        buffer.append(contentsOf: elements)
    }
}
