import Testing

@testable import StorehookClient

@Suite("The comparison of tiers")
struct ComparisonTableTests {
    @Test("has the Readmigo document's matrix, cell by cell")
    func readmigo() {
        let table = ComparisonTable(SampleRules.readmigo, current: "pro", ClientTexts(.english))
        #expect(table.columns.map(\.name) == ["Free", "Pro", "Premium"])
        #expect(table.columns.map(\.isCurrent) == [false, true, false])
        let cells = Dictionary(uniqueKeysWithValues: table.rows.map { ($0.id, $0.cells.map(\.text)) })
        #expect(cells["ai_explain"] == ["5 times a day", "100 times a day", "Unlimited"])
        #expect(cells["ai_summary"] == ["Not included", "50 times a day", "Unlimited"])
        #expect(cells["advanced_ai"] == ["Not included", "Not included", "Included"])
        #expect(cells["voice_chat"] == ["Not included", "30 minutes a month", "Unlimited"])
        #expect(cells["video_chat"] == ["Not included", "Not included", "Included"])
        #expect(cells["vocabulary"] == ["50 words in total", "1,000 words in total", "Unlimited"])
        #expect(cells["spaced_repetition"] == ["Not included", "Included", "Included"])
        #expect(cells["offline_books"] == ["0 books in total", "10 books in total", "Unlimited"])
        #expect(cells["reading_statistics"] == ["Not included", "Included", "Included"])
        #expect(cells["vocabulary_export"] == ["Not included", "Included", "Included"])
        #expect(table.rows.map(\.id) == SampleRules.readmigo.features.map(\.id))
        #expect(table.rows.first { $0.id == "offline_books" }?.cells.map(\.isIncluded) == [false, true, true])
    }

    @Test("has the architecture document's matrix")
    func bills() {
        let table = ComparisonTable(SampleRules.bills, current: nil, ClientTexts(.simplifiedChinese))
        #expect(table.title == "功能对比" && table.featureTitle == "功能")
        #expect(table.columns.map(\.name) == ["免费版", "Pro"] && table.columns.map(\.isCurrent) == [true, false])
        #expect(
            table.rows.map { $0.cells.map(\.text) } == [
                ["共500条", "无限制"], ["开放", "开放"], ["开放", "开放"], ["开放", "开放"], ["开放", "开放"], ["未开放", "开放"],
                ["未开放", "开放"], ["未开放", "开放"],
            ])
        #expect(
            table.rows.map(\.name) == ["创建账单", "查看统计", "管理分类", "管理归属人", "管理支付方式", "云同步", "导出 CSV", "导出数据库"])
        let traditional = ComparisonTable(SampleRules.bills, current: nil, ClientTexts(.traditionalChinese))
        #expect(traditional.rows[0].cells[1].text == "無限制" && traditional.rows[5].cells[0].text == "未開放")
    }
}
