import Foundation
import Testing

@testable import StorehookClient

@Suite("A message to the customer")
struct ClientMessageTests {
    @Test(
        "says what went wrong and what to do, in each language",
        arguments: [
            (ClientTrouble.network, ["Try again", "重试", "再試一次"], "无法连接，请检查网络后重试"),
            (.verificationFailed, ["OK", "好", "好"], "购买验证失败，未生效"),
            (.pending, ["OK", "好", "好"], "购买正在等待批准，批准后会自动生效"),
            (.otherAccount, ["Contact support", "联系支持", "聯絡客服"], "此购买属于其他账号，请登录该账号或联系支持"),
            (.signIn, ["Sign in", "登录", "登入"], "请重新登录"),
            (.busy, ["Try again", "重试", "再試一次"], "请求过于频繁，请稍后重试"),
            (.product, ["OK", "好", "好"], "此商品暂不可购买"),
            (.trialRefused, ["OK", "好", "好"], "此账号无法开始试用"),
            (.unreadableAnswer, ["Try again", "重试", "再試一次"], "无法读取最新状态，继续使用上次的状态"),
            (.unreadableCache, ["Try again", "重试", "再試一次"], "无法读取本地状态，请联网或恢复购买"),
            (.unknown, ["Contact support", "联系支持", "聯絡客服"], "发生未知错误。如再次出现，请联系支持"),
        ] as [(ClientTrouble, [String], String)])
    func messages(_ trouble: ClientTrouble, _ actions: [String], _ simplified: String) {
        let messages = ClientLanguage.allCases.map { ClientMessage(trouble, ClientTexts($0)) }
        #expect(messages.map(\.actionTitle) == actions)
        #expect(messages[1].text == simplified)
        #expect(Set(messages.map(\.text)).count == 3)
        #expect(messages.map(\.title) == ["That did not work", "操作未完成", "操作未完成"])
    }

    @Test("has a button for each action, in each language")
    func actions() {
        for language in ClientLanguage.allCases {
            let titles = ClientMessage.Action.allCases.map { ClientMessage("", $0, ClientTexts(language)).actionTitle }
            #expect(Set(titles).count == titles.count)
        }
        #expect(ClientMessage("", .upgrade, ClientTexts(.traditionalChinese)).actionTitle == "升級")
    }
}
