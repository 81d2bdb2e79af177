/// A value of a JSON text, whatever it is.
public struct JSONElement: Sendable {
    let document: JSONDocument
    let index: Int

    private var node: JSONNode { document.nodes[index] }

    /// Whether it is null.
    public var isNull: Bool { node.kind == .null }

    /// The text, if it is one.
    public var string: String? { node.kind == .string ? document.string(node) : nil }

    /// The number as an integer: exact, so nil where it has a fraction or lies beyond `Int64`.
    public var integer: Int64? {
        guard node.kind == .number, case .integer(let value) = JSONNumber(document.bytes[node.range]) else {
            return nil
        }
        return value
    }

    /// True or false.
    public var bool: Bool? {
        switch node.kind {
        case .yes: true
        case .no: false
        default: nil
        }
    }

    /// The members, if it is an object.
    public var object: JSONObject? {
        node.kind == .object ? JSONObject(document: document, index: index) : nil
    }

    /// The elements, if it is a list.
    public var elements: [JSONElement]? {
        guard node.kind == .array else { return nil }
        var elements: [JSONElement] = []
        var index = index + 1
        while index < Int(node.next) {
            elements.append(JSONElement(document: document, index: index))
            index = Int(document.nodes[index].next)
        }
        return elements
    }

    /// Its own JSON text, byte for byte.
    public var text: [UInt8] { document.text(node) }
}

extension JSONDocument {
    /// The value that the text is.
    public var root: JSONElement { JSONElement(document: self, index: 0) }
}

extension JSONObject {
    /// All members, in the order of the text.
    public var members: [(name: String, value: JSONElement)] {
        var members: [(String, JSONElement)] = []
        var index = index + 1
        while index < Int(document.nodes[self.index].next) {
            members.append(
                (document.string(document.nodes[index]), JSONElement(document: document, index: index + 1)))
            index = Int(document.nodes[index + 1].next)
        }
        return members
    }

    /// The member of this name, null or not.
    public subscript(_ name: String) -> JSONElement? {
        var index = index + 1
        while index < Int(document.nodes[self.index].next) {
            let key = document.nodes[index]
            let isIt = key.isEscaped ? document.string(key) == name : document.bytes[key.range].elementsEqual(name.utf8)
            if isIt { return JSONElement(document: document, index: index + 1) }
            index = Int(document.nodes[index + 1].next)
        }
        return nil
    }
}
