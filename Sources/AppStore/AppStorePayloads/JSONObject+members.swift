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
    public var text: [UInt8] { document.text(document.nodes[index]) }

    /// The JSON texts of all members but these, by name: what a reader that knows some of them leaves over.
    public func members(except known: Set<String>) -> [String: [UInt8]] {
        var texts: [String: [UInt8]] = [:]
        for (name, value) in members where !known.contains(name) { texts[name] = value.text }
        return texts
    }
}
