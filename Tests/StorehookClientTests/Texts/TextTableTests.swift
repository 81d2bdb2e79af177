import Testing

@testable import StorehookClient

/// The three tables of texts, compared with each other.
@Suite("The client's tables of texts")
struct TextTableTests {
    private static let english = ClientTexts.table(of: .english)
    private static let simplified = ClientTexts.table(of: .simplifiedChinese)
    private static let traditional = ClientTexts.table(of: .traditionalChinese)

    @Test("have a text for every key", arguments: ClientLanguage.allCases)
    func complete(_ language: ClientLanguage) {
        let missing = Set(TextKey.allCases).subtracting(ClientTexts.table(of: language).keys)
        #expect(missing.isEmpty)
    }

    @Test("have no text that is empty, or ends or begins with a space", arguments: ClientLanguage.allCases)
    func filled(_ language: ClientLanguage) {
        for (key, form) in ClientTexts.table(of: language) {
            for text in form.forms {
                #expect(!text.isEmpty, "\(key)")
                #expect(text.first?.isWhitespace == false && text.last?.isWhitespace == false, "\(key): '\(text)'")
            }
        }
    }

    @Test("leave room for the same values", arguments: [ClientLanguage.simplifiedChinese, .traditionalChinese])
    func values(_ language: ClientLanguage) {
        let other = ClientTexts.table(of: language)
        for key in TextKey.allCases {
            #expect(Self.names(Self.english[key]) == Self.names(other[key]), "\(key)")
        }
    }

    /// A number with its unit stands where English has the number alone: the catalog has no singular.
    private static func names(_ form: TextForm?) -> Set<String> {
        let names = (form?.forms.last).map(TextForm.names) ?? []
        return names.contains("amount") ? names.subtracting(["amount"]).union(["count"]) : names
    }

    @Test("write Chinese in Chinese: no text is a copy of the English one, but for those that are numbers and signs")
    func translated() {
        for key in TextKey.allCases where !Self.signs.contains(key) {
            for (language, other) in [("zh-Hans", Self.simplified), ("zh-Hant", Self.traditional)] {
                #expect(other[key] != Self.english[key], "\(key) in \(language)")
                let letters = (other[key]?.forms ?? []).joined().unicodeScalars
                #expect(letters.contains { (0x4E00...0x9FFF).contains($0.value) }, "\(key) in \(language)")
            }
        }
    }

    private static let signs: Set<TextKey> = [.usageOfLimit, .highlight]

    @Test("write each Chinese in its own characters")
    func scripts() {
        let pairs = Array(Self.pairs)
        let simplified = Set(stride(from: 0, to: pairs.count, by: 2).map { pairs[$0] })
        let traditional = Set(stride(from: 1, to: pairs.count, by: 2).map { pairs[$0] })
        #expect(pairs.count.isMultiple(of: 2) && simplified.isDisjoint(with: traditional))
        for key in TextKey.allCases {
            let texts = (
                (Self.simplified[key]?.forms ?? []).joined(), (Self.traditional[key]?.forms ?? []).joined()
            )
            #expect(!texts.0.contains { traditional.contains($0) }, "\(key): \(texts.0)")
            #expect(!texts.1.contains { simplified.contains($0) }, "\(key): \(texts.1)")
        }
    }

    /// Characters that the two write differently, the simplified one first.
    private static let pairs = """
        订訂阅閱费費购購买買复復经經续續过過试試验驗证證败敗无無连連请請检檢络絡联聯网網页頁发發误誤继繼专專业業户戶级級
        锁鎖权權隐隱条條务務终終对對话話读讀写寫时時间間广廣开開关關闭閉启啟录錄帐帳账賬现現将將于於与與从從个個们們这這
        还還没沒计計划劃载載项項暂暫单單额額当當宽寬销銷处處稳穩仅僅达達获獲应應该該变變题題显顯态態际際类類机機线線离離
        频頻历歷实實规規设設备備装裝电電储儲门門码碼号號为為会會体體内內两兩审審样樣组組选選择擇价價总總优優图圖标標
        让讓认認识識节節说說车車边邊觉覺观觀绍紹细細结結给給统統绝絕维維综綜绩績绿綠缓緩编編罗羅职職听聽脑腦脚腳
        """.filter { !$0.isWhitespace }

    @Test("have a form for one in English wherever a number stands, and none in Chinese")
    func plurals() {
        for (key, form) in Self.english where form.forms.contains(where: { TextForm.names(in: $0).contains("count") }) {
            guard case .counted(let one, let other) = form else {
                Issue.record("\(key) has one form for all numbers")
                continue
            }
            #expect(one != other, "\(key)")
            #expect(!TextForm.names(in: one).contains("count") && one.contains("1"), "\(key): \(one)")
        }
        for table in [Self.simplified, Self.traditional] {
            for (key, form) in table { #expect(form.forms.count == 1, "\(key)") }
        }
    }

    @Test("close every brace, and name nothing twice")
    func braces() {
        for language in ClientLanguage.allCases {
            for (key, form) in ClientTexts.table(of: language) {
                for text in form.forms {
                    let (open, close) = (text.count(where: { $0 == "{" }), text.count(where: { $0 == "}" }))
                    #expect(open == close && open == TextForm.names(in: text).count, "\(key): \(text)")
                }
            }
        }
    }

    @Test("end buttons and titles without a full stop, and sentences of the gate with one")
    func stops() {
        for language in ClientLanguage.allCases {
            for (key, form) in ClientTexts.table(of: language) {
                let stops = form.forms.allSatisfy { $0.hasSuffix(".") || $0.hasSuffix("。") }
                #expect(stops == key.rawValue.hasPrefix("gate"), "\(key): \(form.forms)")
            }
        }
    }

    @Test("have no text that no screen and no gate shows")
    func used() throws {
        let sources =
            try ClientSources.texts("Sources/Client/StorehookClient/Features")
            + ClientSources.texts("Sources/Client/StorehookClient/Models")
        for key in TextKey.allCases {
            let use = try Regex("\\.\(key.rawValue)\\b")
            #expect(sources.contains { $0.firstRange(of: use) != nil }, "\(key)")
        }
    }
}
