import AccountStore
import Accounts
import AppleRecords
import Base
import EventStore
import EvidenceStore
import FigureStore
import Figures
import Foundation
import Operations
import OrderStore
import Staff
import Subscriptions
import TestSupport
import Testing

@testable import ConsolePages

/// The words of the pages, and the templates that they stand in.
@Suite("Words")
struct WordTests {
    private let templates: Templates
    private let words: Words

    init() throws {
        let templates = try Templates()
        self.templates = templates
        words = try Words(templates.files)
    }

    @Test("are there in each language for every value that a page may show")
    func values() {
        let cohorts = Set(Figure.allCases.filter(\.isByMonthsLater).flatMap(\.columns).map(\.name))
        let columns = Set(Figure.allCases.flatMap(\.columns).map(\.name)).subtracting(cohorts)
        let kinds: [(String, [String])] = [
            ("order_status", OrderStatus.allCases.map(\.rawValue)),
            ("refund_type", RefundRequest.Kind.allCases.map(\.rawValue)),
            ("refund_state", RefundRequest.State.allCases.map(\.rawValue)),
            ("account_status", AccountStatus.allCases.map(\.rawValue)),
            ("account_source", AccountSource.allCases.map(\.rawValue)),
            ("purchase_status", PurchaseStatus.allCases.map(\.rawValue)),
            ("gives_nothing", PurchaseWorth.Why.allCases.map(\.rawValue)),
            ("binding", PurchaseBinding.Kind.allCases.map(\.rawValue)),
            ("line_type", BookedRefund.Kind.allCases.map(\.rawValue)),
            ("plan_type", OneTimePurchase.Kind.allCases.map(\.rawValue) + ["auto_renewable"]),
            ("figure", Figure.allCases.map(\.rawValue) + ["users", "usage"]),
            ("figure_about", Figure.allCases.map(\.rawValue) + ["users", "usage"]),
            ("column", columns.sorted()), ("measure", FigureMeasure.allCases.map(\.rawValue)),
            ("step", FigureQuestion.Step.allCases.map(\.rawValue) + CalendarStep.allCases.map(\.rawValue)),
            ("split", FigureQuestion.Split.allCases.map(\.rawValue)),
            ("letter_category", DeadLetterCategory.allCases.map(\.rawValue)),
            ("letter_resolution", DeadLetterResolution.allCases.map(\.rawValue)),
            ("job_act", Job.Act.allCases.map(\.rawValue)), ("job_state", Job.State.allCases.map(\.rawValue)),
            ("due_age", DueAge.allCases.map(\.rawValue)), ("due_kind", UnheardEnd.Kind.allCases.map(\.rawValue)),
            ("consumption_state", ListedConsumptionRequest.State.allCases.map(\.rawValue)),
            ("extension_state", RenewalExtension.State.allCases.map(\.rawValue)),
            ("endpoint_state", Endpoint.State.allCases.map(\.rawValue)),
            ("delivery_outcome", DeliveryRecord.Outcome.allCases.map(\.rawValue)),
            ("health_status", Finding.Status.allCases.map(\.rawValue)),
            ("hit", KeptSearch.Kind.allCases.map(\.rawValue)),
            ("usage_period", Catalog.UsagePeriod.allCases.map(\.rawValue)), ("list", SubPages.lists),
            ("role", StaffRole.allCases.map(\.rawValue)), ("section", Section.allCases.map(\.rawValue)),
            ("environment", [Environment.production, .sandbox].map(\.rawValue)),
        ]
        for (kind, values) in kinds {
            #expect(!values.isEmpty, "\(kind)")
            for value in values { #expect(words.keys.contains("\(kind).\(value)"), "\(kind).\(value)") }
        }
        for name in UserFigure.Split.allCases.map(\.rawValue) { #expect(words.keys.contains(name), "\(name)") }
    }

    @Test("are those that pages and templates name, and no others")
    func keys() throws {
        let folder = packageRoot.appending(path: "Sources/Services/ConsolePages")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var code = ""
        for case let file as URL in files where file.pathExtension == "swift" {
            code += try String(contentsOf: file, encoding: .utf8)
        }
        for match in code.matches(of: /word\(\s*"([A-Za-z0-9_.-]+)"/) {
            #expect(words.keys.contains(String(match.output.1)), "\(match.output.1)")
        }
        let written = templates.files.filter { $0.key.hasSuffix(".mustache") }.values.joined()
        var named: Set<String> = []
        for match in written.matches(of: /\{\{w\.([a-z_]+)\}\}/) {
            named.insert(String(match.output.1))
            #expect(words.keys.contains(String(match.output.1)), "\(match.output.1)")
        }
        for key in words.keys {
            let kind = key.split(separator: ".")
            let isUsed =
                kind.count == 1
                ? named.contains(key) || code.contains("\"\(key)\"")
                : code.contains("\"\(kind[0])\"") || code.contains("\"\(kind[0]).") || code.contains("\"\(key)\"")
            #expect(isUsed, "\(key) is of no page")
        }
    }

    @Test("of one language have the places of the other, and a file with a fault is refused with its line")
    func faults() throws {
        #expect(words.text("as_of", in: .english) == "as of {time}")
        #expect(words.text("yes", in: .chinese) == "是" && words.text("no_such", in: .english) == nil)
        for (file, line) in [
            ("a = b", 1), ("# x\n\na = b | c | d", 3), ("a = b | c\na = b | c", 2), ("a = {x} | {y}", 1),
            ("a b = c | d", 1), ("a", 1), ("a =  | c", 1), ("a = b|c | d", 1),
        ] {
            do {
                _ = try Words(["words-x.txt": file])
                Issue.record("\(file) is taken")
            } catch {
                #expect(error.file == "words-x.txt" && error.line == line, "\(file): \(error)")
            }
        }
    }

    @Test("Templates are read as a whole, and one with a fault is refused with its name")
    func templatesFault() {
        #expect(throws: Templates.Fault.self) { try Templates(["layout.mustache": "{{#a}}"]) }
        #expect(templates.files.keys.contains("console.css") && templates.files.keys.contains("icon.svg"))
        // Nothing in line: the policy has browsers leave it out.
        for (name, text) in templates.files where name.hasSuffix(".mustache") {
            #expect(!text.contains("style=") && !text.contains(/\son[a-z]+=/), "\(name)")
            // Every value is escaped.
            #expect(!text.contains("{{{") && !text.contains("{{&"), "\(name)")
        }
        #expect(templates.files["console.css"]?.contains("@import") == false)
        #expect(templates.files["console.css"]?.contains("url(") == false)
    }

    @Test("A browser's language is English or Chinese, of either kind of characters")
    func languages() {
        for (preferred, language) in [
            (["en-GB"], Language.english), (["zh-TW", "en"], .chinese), (["zh"], .chinese),
            (["fr", "zh-CN"], .chinese),
            ([], .english), (["fr"], .english),
        ] {
            #expect(Language(preferred) == language, "\(preferred)")
        }
    }
}
