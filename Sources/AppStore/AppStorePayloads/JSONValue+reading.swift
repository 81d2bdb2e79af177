package import Base

extension JSONValue {
    /// A value that was read, to be written again: numbers as they were written.
    package init(_ element: JSONElement) {
        if let text = element.string {
            self = .string(text)
        } else if let flag = element.bool {
            self = .bool(flag)
        } else if let number = element.integer {
            self = .integer(number)
        } else if let object = element.object {
            self = .object(object.members.map { Member($0.name, JSONValue($0.value)) })
        } else if let elements = element.elements {
            self = .array(elements.map { JSONValue($0) })
        } else {
            self = element.isNull ? .null : .written(element.text)
        }
    }
}
