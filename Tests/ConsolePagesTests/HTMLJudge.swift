import NIOHTTP1
import Testing

/// Reads a page as strictly as a page of ours has to be written: each tag closed in its place, each attribute in quotes, nothing in line, each
/// field with its label, each id once, and no address but the console's own.
struct HTMLJudge {
    /// A tag with its attributes.
    struct Tag {
        var name: String
        var attributes: [String: String]
    }

    /// All opening tags, in their order.
    private(set) var tags: [Tag] = []
    /// What is wrong.
    private(set) var faults: [String] = []

    private static let void: Set = ["meta", "link", "input", "br", "hr", "img"]

    init(_ page: String) {
        // As browsers read it: a quote with an accent behind it, one character for people, is a quote.
        let scalars = page.unicodeScalars.map { $0.isASCII ? $0 : "x" as Unicode.Scalar }
        let plain = String(String.UnicodeScalarView(scalars))
        var rest = plain[...]
        if !rest.hasPrefix("<!doctype html>") { faults.append("no doctype") }
        var open: [String] = []
        while let start = rest.firstIndex(of: "<") {
            rest = rest[rest.index(after: start)...]
            guard let end = rest.firstIndex(of: ">") else {
                faults.append("a tag without an end")
                return
            }
            let inside = rest[..<end]
            rest = rest[rest.index(after: end)...]
            if inside.hasPrefix("!") { continue }
            if inside.hasPrefix("/") {
                let name = inside.dropFirst().lowercased()
                if open.last == name {
                    open.removeLast()
                } else {
                    faults.append("</\(name)> closes \(open.last ?? "nothing")")
                }
                continue
            }
            let tag = Self.read(inside, &faults)
            tags.append(tag)
            if !Self.void.contains(tag.name), !inside.hasSuffix("/") { open.append(tag.name) }
        }
        if !open.isEmpty { faults.append("never closed: \(open)") }
        judge()
    }

    private static func read(_ inside: Substring, _ faults: inout [String]) -> Tag {
        let name = inside.prefix { !$0.isWhitespace && $0 != "/" }.lowercased()
        var attributes: [String: String] = [:]
        var rest = inside.dropFirst(name.count)
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == "/" }
            guard !rest.isEmpty else { break }
            let attribute = rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != "/" }
            rest = rest.dropFirst(attribute.count)
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst()
                guard rest.first == "\"" else {
                    faults.append("<\(name)> has \(attribute) without quotes")
                    break
                }
                rest = rest.dropFirst()
                value = String(rest.prefix { $0 != "\"" })
                rest = rest.dropFirst(value.count).dropFirst()
            }
            if attributes.updateValue(value, forKey: attribute.lowercased()) != nil {
                faults.append("<\(name)> has \(attribute) twice")
            }
        }
        return Tag(name: name, attributes: attributes)
    }

    private mutating func judge() {
        var ids: Set<String> = []
        let labels = Set(tags.filter { $0.name == "label" }.compactMap { $0.attributes["for"] })
        for tag in tags {
            if let id = tag.attributes["id"], !ids.insert(id).inserted { faults.append("the id \(id) is there twice") }
            for name in tag.attributes.keys where name == "style" || name.hasPrefix("on") {
                faults.append("<\(tag.name)> has \(name) in line")
            }
            if ["style", "iframe", "object", "embed"].contains(tag.name) { faults.append("there is a <\(tag.name)>") }
            if tag.name == "script", tag.attributes["src"] == nil { faults.append("a script stands in line") }
            for name in ["href", "src", "action"] {
                if let place = tag.attributes[name], !place.hasPrefix("/"), !place.hasPrefix("#") {
                    faults.append("<\(tag.name)> leads to \(place)")
                }
                if let place = tag.attributes[name], place.hasPrefix("//") { faults.append("<\(tag.name)> leads away") }
            }
            if tag.name == "select", tag.attributes["required"] != nil { faults.append("a choice is required") }
            let isField =
                tag.name == "select" || tag.name == "textarea"
                || tag.name == "input" && tag.attributes["type"] != "hidden"
            if isField, !labels.contains(tag.attributes["id"] ?? "") {
                faults.append("a field has no label: \(tag.attributes)")
            }
            if tag.name == "form", tag.attributes["method"] == nil || tag.attributes["action"] == nil {
                faults.append("a form leads nowhere")
            }
        }
        for label in labels.subtracting(ids) { faults.append("a label is of nothing: \(label)") }
        for name in ["h1", "title", "main"] where tags.count(where: { $0.name == name }) < 1 {
            faults.append("there is no <\(name)>")
        }
        if tags.count(where: { $0.name == "h1" }) != 1 { faults.append("there is not one <h1>") }
        if tags.first(where: { $0.name == "html" })?.attributes["lang"] == nil { faults.append("no language") }
        for tag in tags {
            for name in ["aria-labelledby", "aria-describedby"] {
                for id in (tag.attributes[name] ?? "").split(separator: " ") where !ids.contains(String(id)) {
                    faults.append("\(name) names \(id), which is not there")
                }
            }
        }
    }

    /// Where the page leads, by links that a reader can follow.
    var links: [String] {
        tags.filter { $0.name == "a" }.compactMap { $0.attributes["href"] }.filter { $0.hasPrefix("/") }
            .map { Self.read($0) }
    }

    /// What the first form that leads to a place sends without anything filled in; nil where there is no such form.
    func sent(to action: String) -> [String: String]? {
        guard let form = tags.firstIndex(where: { $0.name == "form" && $0.attributes["action"] == action }) else {
            return nil
        }
        var fields: [String: String] = [:]
        for tag in tags[(form + 1)...].prefix(while: { $0.name != "form" }) where tag.name == "input" {
            guard tag.attributes["type"] == "hidden", let name = tag.attributes["name"] else { continue }
            fields[name] = Self.read(tag.attributes["value"] ?? "")
        }
        return fields
    }

    /// An attribute's value, as browsers read it.
    private static func read(_ value: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(value) {
            $0.replacing($1.0, with: $1.1)
        }
    }
}

/// Checks what every page has to be.
func expectWhole(_ answer: PageAnswer, _ what: String) {
    let judge = HTMLJudge(answer.body)
    #expect(judge.faults.isEmpty, "\(what): \(judge.faults)")
    #expect(answer.headers.first(name: "Content-Type") == "text/html; charset=utf-8", "\(what)")
    #expect(answer.headers.first(name: "Cache-Control") == "no-store", "\(what)")
    let policy = answer.headers.first(name: "Content-Security-Policy") ?? ""
    for part in [
        "default-src 'none'", "style-src 'self'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
        "form-action 'self'",
    ] {
        #expect(policy.contains(part), "\(what): \(policy)")
    }
    #expect(!policy.contains("unsafe"), "\(what): \(policy)")
    for (name, value) in [
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ] {
        #expect(answer.headers.first(name: name) == value, "\(what): \(name)")
    }
}
