import Foundation
import Testing

/// What five documents of systems that teams run today give the client: each name, state, error, text and decision has its row.
@Suite("What the documents give the client")
struct DocumentTests {
    static let documents: [(name: String, items: [DocumentedItem])] = [
        ("the client's architecture", ArchitectureDocument.items), ("the expiry guide", ExpiryDocument.items),
        ("Readmigo", ReadmigoDocument.items + ReadmigoServerDocument.items),
        ("StoreKit 2 and the Server API", StoreKitDocument.items), ("EmoFlow", EmoFlowDocument.items),
    ]

    /// Whether a text declares something of a name.
    private static func declares(_ text: String, _ kinds: String, _ name: String) throws -> Bool {
        text.firstRange(of: try Regex("\\b(?:\(kinds))\\s+`?\(name)\\b")) != nil
    }

    /// Whether a source declares a type, or a type and a member of it.
    private static func isDeclared(_ parts: [String], in sources: [String]) throws -> Bool {
        let own = try sources.filter { try declares($0, "struct|class|enum|protocol|actor|extension", parts[0]) }
        guard parts.count == 2 else { return !own.isEmpty }
        return try own.contains {
            try declares($0, "func|var|let|case", parts[1])
                || (parts[1] == "init" && $0.contains("init("))
                || ($0.firstRange(of: try Regex("case [^\n]*\\b\(parts[1])\\b")) != nil)
        }
    }

    @Test("is here by the name that its row has")
    func names() throws {
        let sources = try ClientSources.texts("Sources/Client")
        let published = try ClientSources.published()
        #expect(sources.count > 30 && published.count > 300, "this test reads sources wrongly")
        var found = (published: 0, declared: 0)
        for (document, items) in Self.documents {
            for item in items {
                guard let here = item.here else { continue }
                let parts = here.split(separator: ".").map(String.init)
                if published.contains(here) {
                    found.published += 1
                } else {
                    let isHere = try (1...2).contains(parts.count) && Self.isDeclared(parts, in: sources)
                    #expect(isHere, "\(document), \(item): there is no \(here)")
                    found.declared += 1
                }
            }
        }
        // Apps cannot use what is not public: it is the smaller part.
        #expect(found.published > 4 * found.declared, "\(found)")
    }

    @Test("has a test that exists")
    func tests() throws {
        let folders = ["StorehookClientTests", "ClientPackageTests", "StandInTests"]
        let texts = try folders.flatMap { try ClientSources.texts("Tests/\($0)") }
        #expect(texts.count > 15, "this test reads sources wrongly")
        // Each with the first function behind each of its marks.
        let tests = texts.map { text in
            (text: text, names: Set(text.split(separator: "@Test(").dropFirst().compactMap(Self.function(in:))))
        }
        for (document, items) in Self.documents {
            for item in items {
                guard let test = item.test else { continue }
                let parts = test.split(separator: ".").map(String.init)
                try #require(parts.count == 2, "\(document), \(item): \(test) is no suite with a test")
                let exists = try tests.contains {
                    try $0.names.contains(parts[1]) && Self.declares($0.text, "struct|class", parts[0])
                }
                #expect(exists, "\(document), \(item): there is no test \(test)")
            }
        }
    }

    private static func function(in text: Substring) -> String? {
        guard let declared = text.firstRange(of: "func ") else { return nil }
        let rest = text[declared.upperBound...]
        return rest.firstIndex(of: "(").map { String(rest[..<$0]) }
    }

    @Test("has a test, or a reason why it is another's")
    func reasons() {
        for (document, items) in Self.documents {
            for item in items {
                #expect((item.here == nil) == (item.test == nil), "\(document), \(item)")
                #expect(item.here != nil || item.reason?.isEmpty == false, "\(document), \(item)")
                #expect(item.reason.map { $0.hasSuffix(".") } ?? true, "\(document), \(item)")
            }
            // What is the server's is the smaller part: these are the client's rows.
            #expect(items.count { $0.here == nil } * 4 < items.count, "\(document)")
        }
    }

    @Test("stands in one row, in the order of the document, by its name or in short")
    func rows() {
        for (document, items) in Self.documents {
            #expect(items.map(\.line) == items.map(\.line).sorted(), "\(document)")
            #expect(Set(items.map { "\($0.line) \($0.says)" }).count == items.count, "\(document)")
            #expect(items.count > 50)
            for item in items {
                // A term is the document's; a sentence is said in short.
                let characters = item.says.unicodeScalars.count { (0x4E00...0x9FFF).contains($0.value) }
                #expect(characters <= 16, "\(document), \(item)")
            }
        }
    }
}
