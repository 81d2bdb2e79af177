package import AppStorePayloads
import Base

extension APISchema {
    /// What is wrong with an object that was sent, in a sentence that names the member and quotes nothing of it; nil if it fits.
    ///
    /// Exact about types: `"1"` is no number. An optional member may be null, which is as if it were missing.
    package func fault(in object: JSONObject, path: String = "") -> String? {
        switch self {
        case .named(_, let schema), .nullable(let schema): return schema.fault(in: object, path: path)
        case .object(let properties):
            guard !properties.isEmpty else { return nil }
            let texts = object.members(except: [])
            for property in properties {
                let place = path + property.name
                guard let text = texts[property.name], property.isRequired || text != Self.null else {
                    if property.isRequired { return "\(place) is missing" }
                    continue
                }
                if let fault = property.schema.fault(inText: text, place) { return fault }
            }
            return nil
        case .ruled(let schema, let rules):
            return schema.fault(in: object, path: path) ?? rules.lazy.compactMap { $0.fault(in: object, path) }.first
        default: return nil
        }
    }

    private static let null = Array("null".utf8)

    /// The same of one member's JSON text.
    private func fault(inText text: [UInt8], _ place: String) -> String? {
        if case .named(_, let schema) = self { return schema.fault(inText: text, place) }
        if case .nullable(let schema) = self {
            return text == Self.null ? nil : schema.fault(inText: text, place)
        }
        // A member by itself is no document of its own: it is read as the only one of an object.
        guard let value = try? JSONDocument(Array(#"{"v":"#.utf8) + text + [UInt8(ascii: "}")]).object else {
            return "\(place) is nested too deeply"
        }
        switch self {
        case .string(let lengths, _):
            guard let string = value.string("v") else { return "\(place) must be a string" }
            return Self.fault(of: string, lengths, place)
        case .choice(let texts):
            guard let string = value.string("v") else { return "\(place) must be a string" }
            return texts.contains(string) ? nil : "\(place) must be one of \(texts.joined(separator: ", "))"
        case .integer(let range):
            guard let number = value.integer("v") else { return "\(place) must be a whole number" }
            guard let range, !range.contains(number) else { return nil }
            return "\(place) must be from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: return value.bool("v") == nil ? "\(place) must be true or false" : nil
        case .array(let element, let most): return Self.fault(ofArray: value, of: element, most, place)
        case .object, .ruled:
            guard let inner = value.object("v") else { return "\(place) must be an object" }
            return fault(in: inner, path: place + ".")
        case .map: return value.object("v") == nil ? "\(place) must be an object" : nil
        case .any, .named, .nullable: return nil
        }
    }

    fileprivate static func fault(of text: String, _ lengths: Lengths, _ place: String) -> String? {
        let count = text.unicodeScalars.count
        if count < lengths.least {
            return lengths.least == 1 ? "\(place) is empty" : "\(place) is shorter than \(lengths.least) characters"
        }
        if let most = lengths.most, count > most { return "\(place) is longer than \(most) characters" }
        return nil
    }

    private static func fault(
        ofArray value: JSONObject, of element: APISchema, _ most: Int?, _ place: String
    ) -> String? {
        guard let count = value.elementCount("v") else { return "\(place) must be a list" }
        if let most, count > most { return "\(place) has more than \(most) elements" }
        switch element {
        case .named(_, let schema): return fault(ofArray: value, of: schema, most, place)
        case .object:
            guard let objects = value.objects("v") else { return "\(place) must be a list of objects" }
            for (index, object) in objects.enumerated() {
                if let fault = element.fault(in: object, path: "\(place)[\(index)].") { return fault }
            }
            return nil
        case .string(let lengths, _):
            guard let strings = value.strings("v") else { return "\(place) must be a list of strings" }
            for (index, string) in strings.enumerated() {
                if let fault = fault(of: string, lengths, "\(place)[\(index)]") { return fault }
            }
            return nil
        default: return nil
        }
    }
}

extension APISchema.Rule {
    /// What is wrong between members each of which fits.
    fileprivate func fault(in object: JSONObject, _ path: String) -> String? {
        let texts = object.members(except: [])
        switch self {
        case .atMostOne(let names):
            let there = names.filter { texts[$0].map { $0 != Array("null".utf8) } ?? false }
            return there.count > 1 ? "\(there.map { path + $0 }.joined(separator: " and ")) exclude each other" : nil
        case .text(let name, let condition):
            guard texts[condition] == Array("true".utf8) else { return nil }
            let wrapped = Array(#"{"v":"#.utf8) + (texts[name] ?? Array("null".utf8)) + [UInt8(ascii: "}")]
            let text = try? JSONDocument(wrapped).object?.string("v")
            if text?.contains(where: { !$0.isWhitespace }) == true { return nil }
            return "\(path)\(name) is missing or blank: it has to be there where \(path)\(condition) is true"
        }
    }
}

extension APISchema {
    /// What is wrong with a value of the query, which is a text; nil if it fits.
    func fault(inQuery text: String, _ name: String) -> String? {
        switch self {
        case .named(_, let schema), .nullable(let schema): return schema.fault(inQuery: text, name)
        case .string(let lengths, _): return Self.fault(of: text, lengths, name)
        case .choice(let texts):
            return texts.contains(text) ? nil : "\(name) must be one of \(texts.joined(separator: ", "))"
        case .integer(let range):
            guard let number = Int64(text) else { return "\(name) must be a whole number" }
            guard let range, !range.contains(number) else { return nil }
            return "\(name) must be from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: return ["true", "false"].contains(text) ? nil : "\(name) must be true or false"
        default: return "\(name) cannot stand in a query"
        }
    }
}
