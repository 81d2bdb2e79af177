import Base
import Events
import Foundation
import TestSupport
import Testing

/// What is published about the kinds of events.
@Suite("The catalog of kinds")
struct EventCatalogTests {
    @Test("the chapter's table has every kind, with its sentence and what it carries")
    func chapter() throws {
        let text = try String(
            contentsOf: packageRoot.appending(path: "Sources/Programs/storehook/storehook.docc/Events.md"),
            encoding: .utf8)
        let head = try #require(text.range(of: "| kind | when | carries |\n|---|---|---|\n"))
        let table = String(text[head.upperBound...]).components(separatedBy: "\n\n")[0]
        let rows = EventKind.allCases.map { kind in
            "| `\(kind.rawValue)` | \(kind.when) | \(kind.payload == .nothing ? "nothing" : "`\(kind.payload.rawValue)`") |"
        }
        #expect(table == rows.joined(separator: "\n"))
    }

    @Test("each kind has one sentence of its own")
    func sentences() {
        #expect(Set(EventKind.allCases.map(\.when)).count == EventKind.allCases.count)
        for kind in EventKind.allCases { #expect(kind.when.hasSuffix(".") && !kind.when.contains("\n"), "\(kind)") }
    }

    @Test("each payload has a shape with a name, and so has each part of it")
    func names() throws {
        for payload in EventKind.Payload.allCases {
            #expect(!payload.kinds.isEmpty)
            let named = payload.body.named
            #expect(named[payload.schemaName] != nil && named[payload.schemaName + "Data"] != nil)
            #expect(named["EventKind"] == .choice(EventKind.allCases.map(\.rawValue)))
        }
        #expect(EventKind.Payload.subscription.body.named["EventSubscription"] != nil)
    }
}
