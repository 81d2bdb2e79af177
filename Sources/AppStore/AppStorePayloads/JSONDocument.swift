/// A JSON text, read strictly and once.
///
/// Foundation's reader does not fit:
/// - of two members with the same name it silently takes the last, so two readers of one signed text may disagree;
/// - it has no bound on depth;
/// - it costs more than the signature check.
///
/// This one refuses repeated names in every object, nesting beyond ``maximumDepth``, invalid UTF-8, trailing bytes, and
/// whatever else RFC 8259 does not allow. It also refuses three things that RFC 8259 allows and that no database column
/// can hold: U+0000 and half a surrogate pair in a string, and absurdly long numbers.
///
/// Values are not copied; their places are noted. Time and memory are linear in any text; the caller bounds its length.
public struct JSONDocument: Sendable {
    /// How many arrays and objects may stand within each other. Apple's payloads reach 4.
    public static let maximumDepth = 32
    /// How long a number's text may be. Apple's reach 19.
    public static let maximumNumberLength = 64

    /// The text.
    public let bytes: [UInt8]
    let nodes: [JSONNode]

    /// Reads the text.
    ///
    /// - Parameter maximumValues: how many values it may hold, those within others and members' names counted. Each costs
    ///   16 bytes of memory beside the text, which may be as short as two bytes a value.
    /// - Throws: What is wrong with it, and where.
    public init(_ bytes: [UInt8], maximumValues: Int = .max) throws(JSONError) {
        var scanner = JSONScanner(count: bytes.count, maximumValues: maximumValues)
        try scanner.scanDocument(bytes.span)
        self.bytes = bytes
        nodes = scanner.nodes
    }

    /// The members, if the text is an object.
    public var object: JSONObject? {
        nodes.first?.kind == .object ? JSONObject(document: self, index: 0) : nil
    }

    /// A value's own text; a string's node holds what stands between its quotes.
    func text(_ node: JSONNode) -> [UInt8] {
        let range = node.kind == .string ? node.range.lowerBound - 1..<node.range.upperBound + 1 : node.range
        return Array(bytes[range])
    }

    func string(_ node: JSONNode) -> String {
        node.isEscaped
            ? String(decoding: JSONScanner.unescape(bytes[node.range]), as: UTF8.self)
            : String(decoding: bytes[node.range], as: UTF8.self)
    }
}
