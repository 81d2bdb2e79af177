extension JSONObject {
    /// The member as a list of objects; nil also where one of its elements is none.
    public func objects(_ name: StaticString) -> [JSONObject]? {
        guard let start = find(name), document.nodes[start].kind == .array else { return nil }
        var objects: [JSONObject] = []
        var index = start + 1
        while index < Int(document.nodes[start].next) {
            guard document.nodes[index].kind == .object else { return nil }
            objects.append(JSONObject(document: document, index: index))
            index = Int(document.nodes[index].next)
        }
        return objects
    }

    /// The object's own JSON text, byte for byte.
    public var text: [UInt8] { text(document.nodes[index]) }

    /// The JSON texts of all members but these, by name: what a reader that knows some of them leaves over.
    public func members(except known: Set<String>) -> [String: [UInt8]] {
        var members: [String: [UInt8]] = [:]
        var index = index + 1
        while index < Int(document.nodes[self.index].next) {
            let name = document.string(document.nodes[index])
            if !known.contains(name) { members[name] = text(document.nodes[index + 1]) }
            index = Int(document.nodes[index + 1].next)
        }
        return members
    }

    /// A string's node holds what stands between its quotes.
    private func text(_ node: JSONNode) -> [UInt8] {
        let range = node.kind == .string ? node.range.lowerBound - 1..<node.range.upperBound + 1 : node.range
        return Array(document.bytes[range])
    }
}
