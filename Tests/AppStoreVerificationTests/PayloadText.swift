/// JSON made by hand, so that a test can bend any member of it; members keep their order.
enum PayloadText: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByDictionaryLiteral
{
    case text(String)
    case raw(String)
    case members([(String, PayloadText)])

    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int64) { self = .raw("\(value)") }
    init(booleanLiteral value: Bool) { self = .raw("\(value)") }
    init(dictionaryLiteral elements: (String, PayloadText)...) { self = .members(elements) }

    subscript(_ name: String) -> PayloadText? {
        get {
            guard case .members(let members) = self else { return nil }
            return members.first { $0.0 == name }?.1
        }
        set {
            guard case .members(var members) = self else { return }
            let index = members.firstIndex { $0.0 == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].1 = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
            self = .members(members)
        }
    }

    var json: String {
        switch self {
        case .text(let text): "\"\(text)\""
        case .raw(let text): text
        case .members(let members): "{" + members.map { "\"\($0.0)\":\($0.1.json)" }.joined(separator: ",") + "}"
        }
    }

    var bytes: [UInt8] { Array(json.utf8) }
}
