import Foundation
import TestSupport
import Testing

/// Apps that run on iOS 16 link the client, and no compiler here knows what iOS 16 has.
@Suite("What the client is made of")
struct ImportTests {
    /// What may be imported; of these only where it can be.
    private static let guarded: Set = ["FoundationNetworking", "StoreKit", "Combine"]
    private static let modules = ["StorehookClient", "StorehookClientTesting"]

    /// What systems newer than iOS 16 brought, or what no app of that age may link.
    private static let newer = [
        // iOS 17
        "Observation", "@Observable", "ObservationTracking", "withObservationTracking", "@Bindable", "SwiftData",
        "DiscardingTaskGroup", "withDiscardingTaskGroup", "withThrowingDiscardingTaskGroup", "@Entry", "@Previewable",
        "assumeIsolated", "currentEntitlementTaskStatus", "StoreView", "SubscriptionStoreView", "ProductView",
        // iOS 18
        "Synchronization", "Mutex", "Atomic", "AtomicLazyReference", "WordPair", "TaskExecutor",
        "withTaskExecutorPreference", "currentEntitlements(for", "UInt128", "Int128", "#Predicate", "#Expression",
        // iOS 18.4
        "isolated deinit", "appTransactionID", "currentEntitlements(for",
        // iOS 26
        "Span", "RawSpan", "MutableSpan", "MutableRawSpan", "OutputSpan", "UTF8Span", "InlineArray", "Observations",
        "NotificationCenter.Message", "Task.immediate", "enqueueAndWait", "@concurrent",
        // Swift's own library, where it is newer than iOS 16's.
        "#embed", "RegexBuilder",
    ]

    @Test("are Foundation and, where they are, FoundationNetworking, StoreKit and Combine")
    func imports() throws {
        var count = 0
        for module in Self.modules {
            for file in try Compiler.sources("Sources/Client/\(module)") {
                let lines = try Self.code(file)
                var conditions: [Substring] = []
                for line in lines {
                    if line.hasPrefix("#if") { conditions.append(line) }
                    if line.hasPrefix("#elseif") || line.hasPrefix("#else") { conditions[conditions.count - 1] = line }
                    if line.hasPrefix("#endif") { conditions.removeLast() }
                    guard
                        let name = line.firstMatch(
                            of: /^(?:@\w+ |public |package |internal |private )*import (?:\w+ )?(\w+)/)?
                            .output.1
                    else { continue }
                    count += 1
                    let isGuarded = conditions.contains { $0.contains("canImport(\(name))") }
                    let isAllowed =
                        Self.guarded.contains(String(name))
                        ? isGuarded
                        : name == "Foundation" || (name == "StorehookClient" && module != "StorehookClient")
                    #expect(isAllowed, "\(file.lastPathComponent): \(line)")
                }
            }
        }
        #expect(count >= 10, "this test reads imports wrongly")
    }

    @Test("are names that iOS 16 has, of a kept list of those that it has not")
    func names() throws {
        for module in Self.modules {
            for file in try Compiler.sources("Sources/Client/\(module)") {
                let text = try Self.code(file).joined(separator: "\n")
                for name in Self.newer {
                    #expect(!Self.mentions(text, name), "\(file.lastPathComponent): \(name) is newer than iOS 16")
                }
            }
        }
        // The list finds what it is for.
        #expect(Self.mentions("let lock = Mutex(0)", "Mutex") && Self.mentions("@Observable\nclass", "@Observable"))
        #expect(!Self.mentions("let rows = Mutexes()", "Mutex") && !Self.mentions("ObservableObject", "Observable"))
    }

    /// A file's lines without comments and without what is indented before them.
    private static func code(_ file: URL) throws -> [Substring] {
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.split(separator: "\n").map { line in
            let trimmed = line.drop { $0 == " " }
            return trimmed.hasPrefix("//") ? "" : trimmed
        }
    }

    /// Whether the text has this name, and not just a longer one.
    private static func mentions(_ text: String, _ name: String) -> Bool {
        func isPart(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
        }
        return text.ranges(of: name).contains { range in
            let before = range.lowerBound == text.startIndex ? nil : text[text.index(before: range.lowerBound)]
            let after = range.upperBound == text.endIndex ? nil : text[range.upperBound]
            return !isPart(before) && !isPart(after)
        }
    }
}
