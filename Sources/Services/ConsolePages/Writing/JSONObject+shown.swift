import AppStorePayloads
import Base

/// Members of the admin API's answers as pages show them. What an answer has says its description; a test of each page holds the two together.
extension JSONObject {
    /// The objects of a list; none where there is no such list.
    func objects(_ name: String) -> [JSONObject] { self[name]?.elements?.compactMap(\.object) ?? [] }

    /// An instant.
    func time(_ name: StaticString) -> Timestamp? { string(name).flatMap { Timestamp(iso8601: $0) } }

    /// The first of these members that is a text.
    func first(of names: StaticString...) -> String? { names.lazy.compactMap { string($0) }.first }

    /// A text, as a page shows it.
    func words(_ name: StaticString) -> Shown { .words(string(name)) }
    /// An id.
    func id(_ name: StaticString) -> Shown { .id(string(name)) }
    /// A number.
    func count(_ name: StaticString) -> Shown { .count(integer(name)) }
    /// An instant.
    func at(_ name: StaticString) -> Shown { .at(time(name)) }
    /// Yes or no.
    func whether(_ name: StaticString) -> Shown { .whether(bool(name)) }
    /// A state of some kind.
    func standing(_ name: StaticString, of kind: String) -> Shown { .standing(kind, string(name)) }
    /// An amount in the currency that another member has.
    func amount(_ name: StaticString, in currency: StaticString = "currency") -> Shown {
        .amount(integer(name), string(currency))
    }

    /// What JSON a member holds, as a block that folds; none for null.
    func tree(_ name: String, _ title: String) -> [Block] {
        guard let element = self[name], !element.isNull else { return [] }
        return [.tree(JSONTree(title: title, value: JSONValue(element)))]
    }

    /// What JSON a member holds, in lines for people; nil for null.
    func json(_ name: String) -> String? {
        guard let element = self[name], !element.isNull else { return nil }
        return JSONValue(element).indented
    }
}
