package import AppStorePayloads
import Base

extension ValueSchema {
    /// What is wrong with an object that was sent, in a sentence that names the member and quotes nothing of it; nil if it fits.
    ///
    /// Exact about types: `"1"` is no number. An optional member may be null, which is as if it were missing.
    package func fault(in object: JSONObject, path: String = "") -> String? {
        switch self {
        case .named(_, let schema), .nullable(let schema): return schema.fault(in: object, path: path)
        case .object(let properties):
            for property in properties {
                let place = path + property.name
                guard let value = object[property.name], property.isRequired || !value.isNull else {
                    if property.isRequired { return "\(place) is missing" }
                    continue
                }
                if let fault = property.schema.fault(in: value, place) { return fault }
            }
            return nil
        case .ruled(let schema, let rules):
            return schema.fault(in: object, path: path) ?? rules.lazy.compactMap { $0.fault(in: object, path) }.first
        default: return nil
        }
    }

    /// The same of one value.
    private func fault(in value: JSONElement, _ place: String) -> String? {
        switch self {
        case .named(_, let schema): return schema.fault(in: value, place)
        case .nullable(let schema): return value.isNull ? nil : schema.fault(in: value, place)
        case .string(let lengths, _):
            guard let string = value.string else { return "\(place) must be a string" }
            return Self.fault(of: string, lengths, place)
        case .choice(let texts):
            guard let string = value.string else { return "\(place) must be a string" }
            return texts.contains(string) ? nil : "\(place) must be one of \(texts.joined(separator: ", "))"
        case .integer(let range):
            guard let number = value.integer else { return "\(place) must be a whole number" }
            guard let range, !range.contains(number) else { return nil }
            return "\(place) must be from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: return value.bool == nil ? "\(place) must be true or false" : nil
        case .array(let element, _, let most):
            guard let values = value.elements else { return "\(place) must be a list" }
            if let most, values.count > most { return "\(place) has more than \(most) elements" }
            return element.fault(inElements: values, place)
        case .object, .ruled:
            guard let inner = value.object else { return "\(place) must be an object" }
            return fault(in: inner, path: place + ".")
        case .map: return value.object == nil ? "\(place) must be an object" : nil
        // What operators write stands in YAML.
        case .any, .word, .strict, .localized, .either: return nil
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

    /// The same of each element of a list.
    private func fault(inElements values: [JSONElement], _ place: String) -> String? {
        switch self {
        case .named(_, let schema): return schema.fault(inElements: values, place)
        case .object where !values.allSatisfy({ $0.object != nil }): return "\(place) must be a list of objects"
        case .string where !values.allSatisfy({ $0.string != nil }): return "\(place) must be a list of strings"
        case .object, .string:
            return values.enumerated().lazy.compactMap { fault(in: $1, "\(place)[\($0)]") }.first
        default: return nil
        }
    }
}

extension ValueSchema.Rule {
    /// The fault of an object whose members each fit by themselves.
    fileprivate func fault(in object: JSONObject, _ path: String) -> String? {
        switch self {
        case .atMostOne(let names):
            let there = names.filter { object[$0].map { !$0.isNull } ?? false }
            return there.count > 1 ? "\(there.map { path + $0 }.joined(separator: " and ")) exclude each other" : nil
        case .text(let name, let condition):
            guard object[condition]?.bool == true else { return nil }
            if object[name]?.string?.contains(where: { !$0.isWhitespace }) == true { return nil }
            return "\(path)\(name) is missing or blank: it has to be there where \(path)\(condition) is true"
        }
    }
}

extension ValueSchema {
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
