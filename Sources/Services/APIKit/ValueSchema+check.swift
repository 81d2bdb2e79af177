package import AppStorePayloads
import Base

extension ValueSchema {
    /// What is wrong with an object that was sent, in a sentence that names the member and quotes nothing of it; nil if it fits.
    ///
    /// Exact about types: `"1"` is no number. An optional member may be null, which is as if it were missing.
    package func fault(in object: JSONObject, path: String = "") -> ProblemText? {
        switch self {
        case .named(_, let schema), .nullable(let schema): return schema.fault(in: object, path: path)
        case .object(let properties):
            for property in properties {
                let place = path + property.name
                guard let value = object[property.name], property.isRequired || !value.isNull else {
                    if property.isRequired { return .missing(place) }
                    continue
                }
                if let fault = property.schema.fault(in: value, place) { return fault }
            }
            return nil
        case .strict(let strict):
            let known = Set(strict.names)
            if let unknown = object.members.first(where: { !known.contains($0.name) }) {
                return .unknown(path + unknown.name, strict.names)
            }
            return ValueSchema.object(strict.members).fault(in: object, path: path)
        case .ruled(let schema, let rules):
            return schema.fault(in: object, path: path) ?? rules.lazy.compactMap { $0.fault(in: object, path) }.first
        default: return nil
        }
    }

    /// The same of one value.
    private func fault(in value: JSONElement, _ place: String) -> ProblemText? {
        switch self {
        case .named(_, let schema): return schema.fault(in: value, place)
        case .nullable(let schema): return value.isNull ? nil : schema.fault(in: value, place)
        case .string(let lengths, _):
            guard let string = value.string else { return .mustBeText(place) }
            return Self.fault(of: string, lengths, place)
        case .choice(let texts):
            guard let string = value.string else { return .mustBeText(place) }
            return texts.contains(string) ? nil : .mustBe(texts, place)
        case .integer(let range):
            guard let number = value.integer else { return .mustBeNumber(place) }
            guard let range, !range.contains(number) else { return nil }
            return .mustBe(range, place)
        case .boolean: return value.bool == nil ? .mustBe(["true", "false"], place, joined: " or ") : nil
        case .array(let element, _, let most):
            guard let values = value.elements else {
                return ProblemText("\(place) must be a list", "\(place) 必须是列表", "\(place) 必須是清單")
            }
            if let most, values.count > most {
                return ProblemText(
                    "\(place) has more than \(most) elements", "\(place) 的元素超过 \(most) 个", "\(place) 的元素超過 \(most) 個")
            }
            return element.fault(inElements: values, place)
        case .object, .ruled, .strict:
            guard let inner = value.object else { return .mustBeObject(place) }
            return fault(in: inner, path: place + ".")
        case .map: return value.object == nil ? .mustBeObject(place) : nil
        // What operators write stands in YAML.
        case .any, .word, .localized, .either: return nil
        }
    }

    fileprivate static func fault(of text: String, _ lengths: Lengths, _ place: String) -> ProblemText? {
        let count = text.unicodeScalars.count
        if count < lengths.least {
            guard lengths.least > 1 else { return ProblemText("\(place) is empty", "\(place) 为空", "\(place) 為空") }
            return ProblemText(
                "\(place) is shorter than \(lengths.least) characters", "\(place) 少于 \(lengths.least) 个字符",
                "\(place) 少於 \(lengths.least) 個字元")
        }
        if let most = lengths.most, count > most {
            return ProblemText(
                "\(place) is longer than \(most) characters", "\(place) 超过 \(most) 个字符", "\(place) 超過 \(most) 個字元")
        }
        return nil
    }

    /// The same of each element of a list.
    private func fault(inElements values: [JSONElement], _ place: String) -> ProblemText? {
        switch self {
        case .named(_, let schema): return schema.fault(inElements: values, place)
        case .object where !values.allSatisfy({ $0.object != nil }):
            return ProblemText(
                "\(place) must be a list of objects", "\(place) 必须是对象列表", "\(place) 必須是物件清單")
        case .string where !values.allSatisfy({ $0.string != nil }):
            return ProblemText(
                "\(place) must be a list of strings", "\(place) 必须是字符串列表", "\(place) 必須是字串清單")
        case .object, .string:
            return values.enumerated().lazy.compactMap { fault(in: $1, "\(place)[\($0)]") }.first
        default: return nil
        }
    }
}

extension ValueSchema.Rule {
    /// The fault of an object whose members each fit by themselves.
    fileprivate func fault(in object: JSONObject, _ path: String) -> ProblemText? {
        switch self {
        case .atMostOne(let names):
            let there = names.filter { object[$0].map { !$0.isNull } ?? false }
            return there.count > 1 ? .exclusive(there.map { path + $0 }) : nil
        case .atLeastOne(let names):
            return names.contains { object[$0].map { !$0.isNull } ?? false } ? nil : .noneOf(names.map { path + $0 })
        case .text(let name, let condition):
            guard object[condition]?.bool == true else { return nil }
            if object[name]?.string?.contains(where: { !$0.isWhitespace }) == true { return nil }
            return ProblemText(
                "\(path)\(name) is missing or blank: it has to be there where \(path)\(condition) is true",
                "\(path)\(condition) 为 true 时，\(path)\(name) 不能缺少或为空",
                "\(path)\(condition) 為 true 時，\(path)\(name) 不能缺少或為空")
        case .also(let schema, let condition, let text):
            return object[condition]?.string == text ? schema.fault(in: object, path: path) : nil
        }
    }
}

extension ValueSchema {
    /// What is wrong with a value of the query, which is a text; nil if it fits.
    package func fault(inQuery text: String, _ name: String) -> ProblemText? {
        switch self {
        case .named(_, let schema), .nullable(let schema): return schema.fault(inQuery: text, name)
        case .string(let lengths, _): return Self.fault(of: text, lengths, name)
        case .choice(let texts): return texts.contains(text) ? nil : .mustBe(texts, name)
        case .integer(let range):
            // As JSON writes it: +5 and 05 are none.
            guard let number = Int64(text), text == "\(number)" else { return .mustBeNumber(name) }
            guard let range, !range.contains(number) else { return nil }
            return .mustBe(range, name)
        case .boolean:
            return ["true", "false"].contains(text) ? nil : .mustBe(["true", "false"], name, joined: " or ")
        default: return "\(name) cannot stand in a query"
        }
    }
}

extension ProblemText {
    fileprivate static func missing(_ place: String) -> ProblemText {
        ProblemText("\(place) is missing", "缺少 \(place)", "缺少 \(place)")
    }

    fileprivate static func noneOf(_ names: [String]) -> ProblemText {
        let all = names.joined(separator: " 或 ")
        return ProblemText("\(names.joined(separator: " or ")) is missing", "缺少 \(all)", "缺少 \(all)")
    }

    /// - Parameter place: a member's name as it was sent, and so only as far as it looks like a name.
    fileprivate static func unknown(_ place: String, _ names: [String]) -> ProblemText {
        let isName =
            (1...64).contains(place.utf8.count)
            && place.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789_.-".unicodeScalars.contains($0))
            }
        let all = names.joined(separator: ", ")
        let (english, chinese) = isName ? (place, " \(place) ") : ("a member of another name", "其他")
        return ProblemText(
            "\(english) is not taken here: the body has \(all)", "此处不接受\(chinese)成员：请求体只有 \(all)",
            "此處不接受\(chinese)成員：請求內文只有 \(all)")
    }

    fileprivate static func mustBeText(_ place: String) -> ProblemText {
        ProblemText("\(place) must be a string", "\(place) 必须是字符串", "\(place) 必須是字串")
    }

    fileprivate static func mustBeNumber(_ place: String) -> ProblemText {
        ProblemText("\(place) must be a whole number", "\(place) 必须是整数", "\(place) 必須是整數")
    }

    fileprivate static func mustBeObject(_ place: String) -> ProblemText {
        ProblemText("\(place) must be an object", "\(place) 必须是对象", "\(place) 必須是物件")
    }

    fileprivate static func mustBe(_ range: ClosedRange<Int64>, _ place: String) -> ProblemText {
        let (least, most) = (range.lowerBound, range.upperBound)
        return ProblemText(
            "\(place) must be from \(least) to \(most)", "\(place) 必须在 \(least) 到 \(most) 之间",
            "\(place) 必須在 \(least) 到 \(most) 之間")
    }

    fileprivate static func mustBe(_ texts: [String], _ place: String, joined by: String? = nil) -> ProblemText {
        ProblemText(
            "\(place) must be " + (by.map { texts.joined(separator: $0) } ?? "one of " + texts.joined(separator: ", ")),
            "\(place) 必须是以下之一：\(texts.joined(separator: "、"))", "\(place) 必須是以下之一：\(texts.joined(separator: "、"))")
    }

    fileprivate static func exclusive(_ names: [String]) -> ProblemText {
        let all = names.joined(separator: "、")
        return ProblemText(
            "\(names.joined(separator: " and ")) exclude each other", "\(all) 不能同时出现", "\(all) 不能同時出現")
    }
}
