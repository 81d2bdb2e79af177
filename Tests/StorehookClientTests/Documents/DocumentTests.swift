import Foundation
import Testing

/// What five documents of systems that teams run today give the client: each name, state, error, text and decision has its row.
@Suite("What the documents give the client")
struct DocumentTests {
    private static let documents: [(name: String, items: [DocumentedItem])] = [
        ("the client's architecture", ArchitectureDocument.items), ("the expiry guide", ExpiryDocument.items),
        ("Readmigo", ReadmigoDocument.items), ("StoreKit 2 and the Server API", StoreKitDocument.items),
        ("EmoFlow", EmoFlowDocument.items),
    ]

    /// Whether a text declares something of a name.
    private static func declares(_ text: String, _ kinds: String, _ name: String) throws -> Bool {
        text.firstRange(of: try Regex("\\b(?:\(kinds))\\s+\(name)\\b")) != nil
    }

    @Test("is here by the name that its row has")
    func names() throws {
        let sources = try ClientSources.texts("Sources/Client/StorehookClient")
        #expect(sources.count > 30, "this test reads sources wrongly")
        for (document, items) in Self.documents {
            for item in items {
                let parts = item.here.split(separator: ".").map(String.init)
                let own = try sources.filter {
                    try Self.declares($0, "struct|class|enum|protocol|actor|extension", parts[0])
                }
                #expect(!own.isEmpty, "\(document), \(item): there is no \(parts[0])")
                guard parts.count == 2 else { continue }
                let isDeclared = try own.contains {
                    try Self.declares($0, "func|var|let|case", parts[1])
                        || ($0.firstRange(of: try Regex("case [^\n]*\\b\(parts[1])\\b")) != nil)
                }
                #expect(isDeclared, "\(document), \(item): \(parts[0]) has no \(parts[1])")
            }
        }
    }

    @Test("has a test that exists")
    func tests() throws {
        let tests = try ClientSources.texts("Tests/StorehookClientTests")
        #expect(tests.count > 15, "this test reads sources wrongly")
        for (document, items) in Self.documents {
            for item in items {
                let parts = item.test.split(separator: ".").map(String.init)
                let exists = try tests.contains {
                    try Self.declares($0, "struct|class", parts[0]) && Self.declares($0, "func", parts[parts.count - 1])
                }
                #expect(exists, "\(document), \(item): there is no test \(item.test)")
            }
        }
    }

    @Test("stands in one row, in the order of the document")
    func rows() {
        for (document, items) in Self.documents {
            #expect(items.map(\.line) == items.map(\.line).sorted(), "\(document)")
            #expect(Set(items.map { "\($0.line) \($0.says)" }).count == items.count, "\(document)")
            #expect(!items.isEmpty)
        }
    }
}
