import Foundation
import TestSupport
import Testing

/// No Apple compiler runs here. What the client has for Apple's systems is checked against the declarations that Apple documents.
@Suite("The client beside Apple's declarations")
struct AppleDeclarationTests {
    @Test("type-checks where there are StoreKit and Combine")
    func accepted() async throws {
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            let verdict = try await compiler.check("StorehookClient")
            #expect(verdict.isAccepted, "\(verdict.report.prefix(3000))")
        }
    }

    @Test(
        "does not type-check with a call that Apple does not document",
        arguments: sampled([
            ("jwsRepresentation", "jws"),
            ("[.appAccountToken(appAccountToken)]", "[.appAccountToken(appAccountToken.uuidString)]"),
            ("await unfinished.finish()", "unfinished.finish()"),
            ("@unknown default", "case .deferred"),
        ]))
    func refused(_ right: String, _ wrong: String) async throws {
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            let name = "StoreKitSource.swift"
            let source = packageRoot.appending(path: "Sources/Client/StorehookClient/Store/\(name)")
            let text = try String(contentsOf: source, encoding: .utf8)
            try #require(text.contains(right))
            let changed = compiler.directory.appending(path: name)
            try text.replacing(right, with: wrong).write(to: changed, atomically: true, encoding: .utf8)
            let verdict = try await compiler.check("StorehookClient", changed: [changed])
            #expect(!verdict.isAccepted)
            let faults = verdict.report.split(separator: "\n").filter { $0.contains(": error:") }
            #expect(!faults.isEmpty && faults.allSatisfy { $0.contains(name) }, "\(verdict.report.prefix(3000))")
        }
    }

    @Test("makes each call that the documents name: with another name none of them type-checks")
    func calls() async throws {
        let calls = [
            ("Product.products(for: identifiers)", "Product.all(for: identifiers)", "all"),
            ("product.purchase(options:", "product.buy(options:", "buy"),
            ("Transaction.updates", "Transaction.news", "news"),
            ("all(Transaction.currentEntitlements)", "all(Transaction.entitlements)", "entitlements"),
            ("all(Transaction.unfinished)", "all(Transaction.open)", "open"),
            ("try await AppStore.sync()", "try await AppStore.synchronize()", "synchronize"),
        ]
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            let name = "StoreKitSource.swift"
            let source = packageRoot.appending(path: "Sources/Client/StorehookClient/Store/\(name)")
            var text = try String(contentsOf: source, encoding: .utf8)
            for (right, wrong, _) in calls {
                try #require(text.contains(right), "\(right)")
                text = text.replacing(right, with: wrong)
            }
            let changed = compiler.directory.appending(path: name)
            try text.write(to: changed, atomically: true, encoding: .utf8)
            let verdict = try await compiler.check("StorehookClient", changed: [changed])
            for (_, _, wrong) in calls {
                #expect(verdict.report.contains("has no member '\(wrong)'"), "\(verdict.report.prefix(3000))")
            }
        }
    }

    @Test("has a model that SwiftUI may observe: it reports each change before it is made")
    func observed() async throws {
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            try await compiler.makeModule("StorehookClient")
            let file = compiler.directory.appending(path: "Observer.swift")
            let types = [
                ("SubscriptionManager", true), ("PaywallModel", true), ("RestoreModel", true), ("AccountAPI", false),
                ("StoreProduct", false),
            ]
            for (type, isObserved) in types {
                try """
                import Combine
                import StorehookClient

                func observe<Model: ObservableObject>(_ model: Model.Type) {}
                func observe() { observe(\(type).self) }
                """.write(to: file, atomically: true, encoding: .utf8)
                let verdict = try await compiler.check([file], as: "Observer")
                #expect(verdict.isAccepted == isObserved, "\(type): \(verdict.report.prefix(3000))")
            }
        }
    }
}
