import AccountStore
import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Base
import Foundation
import HTTPTypes
import Pipeline
import Testing

@testable import APIKit
@testable import AccountAPI

@Suite("Why a request is not done, in three languages")
struct ProblemTextTests {
    private func texts(_ text: ProblemText, _ status: HTTPResponse.Status = .badRequest) -> [String] {
        AnswerLanguage.allCases.map { text.text(in: $0, of: status) }
    }

    private func hasChinese(_ text: String) -> Bool {
        text.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }
    }

    @Test(
        "is in the language that the reader wants most of those that there are",
        arguments: [
            ([], "en"), (["en-GB"], "en"), (["de", "fr"], "en"), (["zh"], "zh-Hans"), (["zh-CN", "en"], "zh-Hans"),
            (["zh-Hans-SG"], "zh-Hans"), (["zh-TW"], "zh-Hant"), (["zh-Hant-HK"], "zh-Hant"),
            (["zh-HK", "zh"], "zh-Hant"),
            (["en", "zh"], "en"), (["fr", "zh-TW"], "zh-Hant"), (["*"], "en"),
        ])
    func language(_ wanted: [String], _ tag: String) { #expect(AnswerLanguage(wanted).rawValue == tag) }

    @Test("is never in English for a reader of Chinese, also where a sentence has no Chinese of its own")
    func fallback() {
        for status in [400, 401, 403, 404, 405, 409, 410, 413, 418, 429, 500, 502, 503] {
            let said = texts("no", HTTPResponse.Status(code: status))
            #expect(said[0] == "no" && hasChinese(said[1]) && hasChinese(said[2]), "\(status): \(said)")
        }
        #expect(texts(ProblemText("a", "甲", "乙")) == ["a", "甲", "乙"])
        #expect(texts(ProblemText("exact", generally: ProblemText("", "甲", "乙"))) == ["exact", "甲", "乙"])
    }

    @Test("says of each refusal what it says in English, with words of its own")
    func refusals() {
        let tokens = TokenRefusal.allCases.map { texts($0.text) }
        let codes = VerificationCode.allCases.map { texts(ProblemText("m", of: $0)) }
        let trials = TrialEligibility.Reason.allCases.map { texts($0.text) }
        for said in tokens + codes + trials {
            #expect(hasChinese(said[1]) && hasChinese(said[2]), "\(said)")
        }
        for all in [tokens, codes, trials] {
            #expect(Set(all.map { $0[1] }).count == all.count && Set(all.map { $0[2] }).count == all.count)
        }
        let receipts = ReceiptStatus.known.map { texts(ProblemText("m", of: $0)) }
        #expect(receipts.allSatisfy { hasChinese($0[1]) && hasChinese($0[2]) })
        // The documents' own.
        for text in [ProblemText.unknownProduct, .unsoldProduct] {
            #expect(text.text(in: .simplified, of: .badRequest) == "无效的产品 ID")
        }
        #expect(
            AccountHandlers.problem(.otherAccountsToken, [:])?.detail.text(in: .simplified, of: .forbidden)
                == "交易不属于当前用户")
    }

    @Test("says with each refusal of a token or a product what to change")
    func nextSteps() {
        let steps: [TokenRefusal: String] = [
            .missing: "send Authorization: Bearer", .scheme: "write Bearer before it", .malformed: "send a JWT",
            .algorithm: "sign tokens by",
            .unknownKey: "STOREHOOK_JWT_KEYS", .signature: "STOREHOOK_JWT_KEYS", .expired: "get a new one",
            .notYet: "send it later", .noExpiry: "add exp", .issuer: "STOREHOOK_JWT_ISSUER",
            .audience: "STOREHOOK_JWT_AUDIENCE", .account: "1 to 200 printable",
            .serverKey: "storehook staff token --account-api",
        ]
        for refusal in TokenRefusal.allCases {
            let english = refusal.text.english
            #expect(steps[refusal].map(english.contains) == true, "\(refusal): \(english)")
            let named = english.matches(of: /STOREHOOK_[A-Z_]+/).map { String($0.output) }
            #expect(texts(refusal.text).allSatisfy { said in named.allSatisfy(said.contains) }, "\(refusal)")
        }
        for text in [ProblemText.unknownProduct, .unsoldProduct] {
            #expect(text.english.contains("storehook catalog apply"))
        }
        let owners: [(BindOutcome, String)] = [
            (.otherAccountsToken, "log in as the account that bought it"), (.boundElsewhere, "log in as that account"),
        ]
        for (outcome, step) in owners {
            #expect(AccountHandlers.problem(outcome, [:])?.detail.english.contains(step) == true, "\(outcome)")
        }
    }

    @Test("says with each refusal of a signed record what to send")
    func recordSteps() throws {
        func record(_ kind: HandedIn.Kind, _ payload: String) -> HandedIn {
            HandedIn(kind, "e30.\(String(decoding: Base64.url.encode(Array(payload.utf8)), as: UTF8.self)).AA")
        }
        func said(_ code: VerificationCode, _ records: HandedIn...) -> String {
            ProblemText("It is wrong.", of: code, handedIn: records).english
        }
        let transaction = #"{"transactionId":"1","originalTransactionId":"1"}"#
        let renewal = #"{"originalTransactionId":"1","autoRenewStatus":1}"#
        let cut = HandedIn(.transaction, "eyJ")
        for code in [VerificationCode.malformed, .invalidSignature, .malformedPayload, .malformedCertificate] {
            #expect(said(code, cut).hasPrefix("It is wrong: send jwsRepresentation whole"), "\(code)")
        }
        #expect(said(.untrustedRoot, cut).contains("STOREHOOK_TRUSTED_ROOTS"))
        #expect(said(.wrongBundle, cut) == "It is wrong.")
        for (kind, payload, step) in [
            (HandedIn.Kind.transaction, renewal, "send it as signedRenewalInfo"),
            (.renewal, transaction, "signedRenewalInfo holds a transaction"),
            (.transaction, #"{"notificationType":"TEST"}"#, "posted to storehook receive"),
            (.transaction, #"{"receiptCreationDate":1}"#, "an app transaction, which proves a download"),
            (.appTransaction, transaction, "AppTransaction.shared"),
        ] {
            let text = said(.malformedPayload, record(kind, payload))
            #expect(text.contains(step), "\(text)")
            // A signature that does not hold is the first thing to mend.
            #expect(!said(.invalidSignature, record(kind, payload)).contains(step))
        }
        let both = said(.malformedPayload, record(.transaction, transaction), record(.renewal, transaction))
        #expect(both.contains("signedRenewalInfo holds a transaction"))
    }

    @Test("names the member that does not fit, in each language")
    func faults() throws {
        let schema = ValueSchema.object([.required("amount", .integer(1...5)), .optional("text", .string(.init(1, 3)))])
        func said(_ text: String) throws -> [String] {
            let object = try #require(try JSONDocument(Array(text.utf8)).object)
            return texts(try #require(schema.fault(in: object)))
        }
        #expect(try said("{}") == ["amount is missing", "缺少 amount", "缺少 amount"])
        #expect(
            try said(#"{"amount":9}"#)
                == ["amount must be from 1 to 5", "amount 必须在 1 到 5 之间", "amount 必須在 1 到 5 之間"])
        #expect(try said(#"{"amount":1,"text":"abcd"}"#)[1] == "text 超过 3 个字符")
    }
}

@Suite("The prompt to upgrade")
struct UpgradePromptTests {
    private static let catalog = Catalog(
        tiers: [
            .init(id: "free"),
            .init(id: "pro", names: LocalizedText("Pro", others: ["zh-Hans": "专业版", "zh-Hant": "專業版"])),
            .init(id: "premium", names: LocalizedText("Premium")),
        ],
        features: [
            .init(
                id: "explain", names: LocalizedText("Explanations", others: ["zh-Hans": "单词解释", "zh-Hant": "單字解釋"]),
                units: LocalizedText("times", others: ["zh-Hans": "次", "zh-Hant": "次"]),
                limits: [
                    "free": .count(5, per: .day), "pro": .count(100, per: .day), "premium": .count(100, per: .day),
                ]),
            .init(id: "video", limits: ["free": .no, "pro": .yes, "premium": .yes]),
        ])

    private func prompts(_ view: FeatureView) -> [String?] {
        AnswerLanguage.allCases.map { view.upgradePrompt(for: Reader(Self.catalog, languages: [$0.rawValue])) }
    }

    @Test("says which tier gives the feature, or more of it, in the reader's language and the catalog's names")
    func prompts() throws {
        let day = UsageWindow(.day, at: Views.now, in: .gmt)
        let explain = try #require(Self.catalog.feature("explain"))
        let video = try #require(Self.catalog.feature("video"))
        #expect(
            prompts(FeatureView(explain, in: "free", used: 5, window: day)) == [
                "Explanations: all 5 times of today are used. Upgrade to Pro for more.",
                "「单词解释」今天的5次已用完，升级到专业版可获得更多。", "「單字解釋」今天的5次已用完，升級到專業版可獲得更多。",
            ])
        #expect(
            prompts(FeatureView(video, in: "free")) == [
                "Upgrade to Pro to use video.", "升级到专业版即可使用「video」。", "升級到專業版即可使用「video」。",
            ])
        // A reader of neither gets the sentence in the language of the feature's name.
        let talk = Catalog.Feature(
            id: "talk", names: LocalizedText("语音对话", language: "zh-Hans"),
            limits: ["free": .no, "pro": .yes, "premium": .yes])
        let german = Reader(Self.catalog, languages: ["de"])
        #expect(FeatureView(talk, in: "free").upgradePrompt(for: german) == "升级到Pro即可使用「语音对话」。")
        // Nothing to buy, and nothing to say.
        #expect(prompts(FeatureView(explain, in: "pro", used: 100, window: day)) == [nil, nil, nil])
        #expect(prompts(FeatureView(explain, in: "free", used: 4, window: day)) == [nil, nil, nil])
        let refused = FeatureView(explain, in: "free", used: 5, window: day)
        let members = UsageAnswer.members(of: refused, for: Reader(Self.catalog, languages: ["zh"]))
        #expect(
            members.first { $0.name == "upgradePrompt" }?.value == "「单词解释」今天的5次已用完，升级到专业版可获得更多。")
    }
}
