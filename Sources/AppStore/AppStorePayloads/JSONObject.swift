/// The members of a JSON object, read by name and type.
///
/// A member that is missing, null or of another type is nil: Apple may leave out any field, and one odd field must not lose a record.
public struct JSONObject: Sendable {
    let document: JSONDocument
    let index: Int

    /// Whether there is a member of this name, null or not.
    public func has(_ name: StaticString) -> Bool { find(name) != nil }

    /// The member's text.
    public func string(_ name: StaticString) -> String? {
        guard let node = node(name, .string) else { return nil }
        return document.string(node)
    }

    /// The member as an integer: exact, so nil where it has a fraction or lies beyond `Int64`.
    public func integer(_ name: StaticString) -> Int64? {
        guard let node = node(name, .number), case .integer(let value) = JSONNumber(document.bytes[node.range])
        else { return nil }
        return value
    }

    /// The member as true or false.
    public func bool(_ name: StaticString) -> Bool? {
        guard let index = find(name) else { return nil }
        switch document.nodes[index].kind {
        case .yes: return true
        case .no: return false
        default: return nil
        }
    }

    /// The member's members.
    public func object(_ name: StaticString) -> JSONObject? {
        guard let index = find(name), document.nodes[index].kind == .object else { return nil }
        return JSONObject(document: document, index: index)
    }

    /// The member as a list of texts; nil also where one of its elements is not a text.
    public func strings(_ name: StaticString) -> [String]? {
        guard let array = node(name, .array), let start = find(name) else { return nil }
        var texts: [String] = []
        var index = start + 1
        while index < Int(array.next) {
            let node = document.nodes[index]
            guard node.kind == .string else { return nil }
            texts.append(document.string(node))
            index = Int(node.next)
        }
        return texts
    }

    /// How many elements the member has, if it is a list.
    public func elementCount(_ name: StaticString) -> Int? {
        guard let array = node(name, .array), let start = find(name) else { return nil }
        var count = 0
        var index = start + 1
        while index < Int(array.next) {
            count += 1
            index = Int(document.nodes[index].next)
        }
        return count
    }

    /// The member as a number, however large.
    func number(_ name: StaticString) -> JSONNumber? {
        node(name, .number).map { JSONNumber(document.bytes[$0.range]) }
    }

    private func node(_ name: StaticString, _ kind: JSONNode.Kind) -> JSONNode? {
        guard let index = find(name), document.nodes[index].kind == kind else { return nil }
        return document.nodes[index]
    }

    /// The index of the member's value. Names are ASCII and found by comparing bytes: objects here have about twenty members.
    func find(_ name: StaticString) -> Int? {
        let nodes = document.nodes
        let end = Int(nodes[index].next)
        var current = index + 1
        while current < end {
            let key = nodes[current]
            if matches(key, name) { return current + 1 }
            current = Int(nodes[current + 1].next)
        }
        return nil
    }

    private func matches(_ key: JSONNode, _ name: StaticString) -> Bool {
        if key.isEscaped {
            return JSONScanner.unescape(document.bytes[key.range])
                .elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        }
        guard key.range.count == name.utf8CodeUnitCount else { return false }
        var character = name.utf8Start
        for offset in key.range {
            if document.bytes[offset] != character.pointee { return false }
            character += 1
        }
        return true
    }
}
