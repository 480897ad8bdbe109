PRAGMA application_id = 1095978580;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE bodies (seq INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
INSERT INTO "bodies" VALUES(1,'{"after":null,"format":1,"nonce":"0f35131405a00ce506942eb1723da500"}');
INSERT INTO "bodies" VALUES(2,'{"public":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"}');
INSERT INTO "bodies" VALUES(3,'{"process":1}');
INSERT INTO "bodies" VALUES(4,'{"agent":"claude","code":"print(''hello'')","context":"{}","domains":[],"executable":false,"files":[],"id":"r1","image":"","isolation":"local","language":"python","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"most_bytes":0,"network":"none","offset":0,"packages":[],"received_at":1700000000.0,"sandbox":"","stdin":"","title":"Say hello","tool":"code_execute"}');
INSERT INTO "bodies" VALUES(5,'{"findings":[{"capability":"starts processes","evidence":"run(''ls'')","id":"python.subprocess","level":"HIGH","reason":"Why.","reference":"","span":{"column":0,"end_column":9,"end_line":1,"line":1}}],"level":"HIGH","reasons":["It runs code."],"touch":{"credentials":[],"files":["/tmp/a"],"hosts":["example.org"],"packages":[],"processes":[]}}');
INSERT INTO "bodies" VALUES(6,'{"blocked":"","window":60.0}');
INSERT INTO "bodies" VALUES(7,'{"after_seconds":2.5,"by":"person","digest":"0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9","reason":"Fine.","rule":"","verdict":"approved"}');
INSERT INTO "bodies" VALUES(8,'{}');
INSERT INTO "bodies" VALUES(9,'{"curve":[{"at":0.1,"cpu_percent":50.0,"disk_bytes":null,"memory_bytes":1000,"processes":2},{"at":0.2,"cpu_percent":null,"disk_bytes":null,"memory_bytes":null,"processes":null}],"duration":0.25,"error":"","exit_code":0,"files":[],"files_left_out":"","meta":{"blocked_imports":[],"dropped_stderr":0,"dropped_stdout":0,"image":"","isolation":"local","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"protections":["no network"],"runtime":"local","timed_out":false,"truncated":false,"versions":{"python":"3.11"}},"outcome":"ok","peak_memory":12345678,"stderr":"","stdout":"hello\n","value":{"answer":[42,null,1.5]}}');
INSERT INTO "bodies" VALUES(10,'{}');
INSERT INTO "bodies" VALUES(11,'{"agent":"claude","code":"print(''hello'')","context":"{}","domains":[],"executable":false,"files":[],"id":"r2","image":"","isolation":"local","language":"python","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"most_bytes":0,"network":"none","offset":0,"packages":[],"received_at":1700000000.0,"sandbox":"","stdin":"","title":"Say hello","tool":"code_execute"}');
INSERT INTO "bodies" VALUES(12,'{"findings":[{"capability":"starts processes","evidence":"run(''ls'')","id":"python.subprocess","level":"HIGH","reason":"Why.","reference":"","span":{"column":0,"end_column":9,"end_line":1,"line":1}}],"level":"CRITICAL","reasons":["It runs code."],"touch":{"credentials":[],"files":["/tmp/a"],"hosts":["example.org"],"packages":[],"processes":[]}}');
INSERT INTO "bodies" VALUES(13,'{"blocked":"","window":60.0}');
INSERT INTO "bodies" VALUES(14,'{"after_seconds":1.0,"by":"person","digest":"0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9","reason":"Not this.","rule":"","verdict":"denied"}');
INSERT INTO "bodies" VALUES(15,'{}');
INSERT INTO "bodies" VALUES(16,'{"agent":"claude","code":"print(''hello'')","context":"{}","domains":[],"executable":false,"files":[],"id":"r3","image":"","isolation":"local","language":"python","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"most_bytes":0,"network":"none","offset":0,"packages":[],"received_at":1700000000.0,"sandbox":"","stdin":"","title":"Say hello","tool":"code_execute"}');
INSERT INTO "bodies" VALUES(17,'{"findings":[{"capability":"starts processes","evidence":"run(''ls'')","id":"python.subprocess","level":"HIGH","reason":"Why.","reference":"","span":{"column":0,"end_column":9,"end_line":1,"line":1}}],"level":"HIGH","reasons":["It runs code."],"touch":{"credentials":[],"files":["/tmp/a"],"hosts":["example.org"],"packages":[],"processes":[]}}');
INSERT INTO "bodies" VALUES(18,'{"blocked":"","window":60.0}');
INSERT INTO "bodies" VALUES(19,'{"head":"a401a5531f95302615277e854bf6b7f8d8136de01a7ebb980aad485aa6110d71","key":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8","seq":18,"signature":"b79a4bfa65e1a64c767ca4c1269ab9026c1ad5e998cca5dd87e6c09d9a9527418a901c24d9ee6383a44a4b5ec0c5a008b591bb37c9dc40476fab5d3725831308"}');
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    request_id TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO "entries" VALUES(1,1795349009430822,'genesis','','0573b9fd39c80d67e99c778137719ccd6aef1ee226e45dcb69ef628952cf1e78','0000000000000000000000000000000000000000000000000000000000000000','e688003a6b1ea9c0aeccb0934f40b9502c01822226b35ff4b5f8c326b5397209');
INSERT INTO "entries" VALUES(2,1795349009486043,'key','','0ba2221f13ed035338d10a19aadc8280690190586808747298800a1518e9fb89','e688003a6b1ea9c0aeccb0934f40b9502c01822226b35ff4b5f8c326b5397209','8696e700a99994ffb803e0f28c425ccf8fad1376ff0b6663beddf1aa1c11a66c');
INSERT INTO "entries" VALUES(3,1795349009492681,'opened','','c654f1d4fb7fca5281ee512e3b019933ce340d830b890184c7db2035823978bd','8696e700a99994ffb803e0f28c425ccf8fad1376ff0b6663beddf1aa1c11a66c','76d67b32e150becc1b59e93f4269f69bd399f4b0d7f0322e91edee84bdeb1ad3');
INSERT INTO "entries" VALUES(4,1795349009496500,'arrived','r1','5a09dcf27b0cc8335066c80694df1f55b1acd100add25085e039d49a86aeebcd','76d67b32e150becc1b59e93f4269f69bd399f4b0d7f0322e91edee84bdeb1ad3','dd36f27e87f751553209787cfd8036f21f3c92988ccb8e6d9864f0394b061025');
INSERT INTO "entries" VALUES(5,1795349009500540,'assessed','r1','7b0ebb1fcba1cf810eaca182dca17e19ead3c577a4e837ff90ec794e3da043da','dd36f27e87f751553209787cfd8036f21f3c92988ccb8e6d9864f0394b061025','ae8353e2bf50063f645bbdd7dc26a5b62d73e8ccfe9a13043e60c8eabe49375b');
INSERT INTO "entries" VALUES(6,1795349009509007,'asked','r1','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','ae8353e2bf50063f645bbdd7dc26a5b62d73e8ccfe9a13043e60c8eabe49375b','3bf08c96d450084f2952306bb4b00ed56fef3d169b70f9ca4035d3a84a6f4ca8');
INSERT INTO "entries" VALUES(7,1795349009514727,'approved','r1','797339cf4bcaab94544a8e319572ba6cbc096c476aa8db051d8cb84ffefec9a9','3bf08c96d450084f2952306bb4b00ed56fef3d169b70f9ca4035d3a84a6f4ca8','0d372485607c73699c15c84fd7a12a4706c7fffb5740c6e72f94af29bba3fac2');
INSERT INTO "entries" VALUES(8,1795349009520445,'running','r1','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','0d372485607c73699c15c84fd7a12a4706c7fffb5740c6e72f94af29bba3fac2','d1cca0f4a79c19fe60fc9a1b4eef1ac3dc029e6e6f2ea3655bc22314e547991f');
INSERT INTO "entries" VALUES(9,1795349009524507,'finished','r1','bf8d35ee02923dd0f015f5b68738d64a6c87b7f5ed165dcdf1ce032259303357','d1cca0f4a79c19fe60fc9a1b4eef1ac3dc029e6e6f2ea3655bc22314e547991f','624bd654e2361ff6057e7046fe988aab1273c9ca6554d54214217a36fad30c10');
INSERT INTO "entries" VALUES(10,1795349009531469,'closed','r1','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','624bd654e2361ff6057e7046fe988aab1273c9ca6554d54214217a36fad30c10','ae1a3b5d66cc58638b993179370f24b460fc6c37675e1e322bf09342cd1445f8');
INSERT INTO "entries" VALUES(11,1795349009535069,'arrived','r2','ceb46a9c70bb3b78511f1606b7921e5475df6bdc12a6415c1c91dedec8c1fbce','ae1a3b5d66cc58638b993179370f24b460fc6c37675e1e322bf09342cd1445f8','3e5e48311ab36521cfd89d66cc340900742a9601acf6192aba51361ab59a5981');
INSERT INTO "entries" VALUES(12,1795349009540512,'assessed','r2','2fd4fbaa6200164cf48e83c4418425053792137d1ca62987081e8d6e11da6145','3e5e48311ab36521cfd89d66cc340900742a9601acf6192aba51361ab59a5981','92a256827bf3dafddc8290c1352dd291289aa4617265915f8983e478ae2c1dc6');
INSERT INTO "entries" VALUES(13,1795349009544481,'asked','r2','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','92a256827bf3dafddc8290c1352dd291289aa4617265915f8983e478ae2c1dc6','adfa33e1e8326a6335466a760e1a0bd652eb551f78582dfc2307bb81841c41b1');
INSERT INTO "entries" VALUES(14,1795349009547702,'denied','r2','a4ae83c5f17bc00b4d625cff56906872dbd28467f792574ae6f804e0be55f276','adfa33e1e8326a6335466a760e1a0bd652eb551f78582dfc2307bb81841c41b1','9e49cfd9cb6903d95b4e6280a783982b1e727c886f6d98eb9f7c3fd62dd19d3b');
INSERT INTO "entries" VALUES(15,1795349009550784,'closed','r2','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','9e49cfd9cb6903d95b4e6280a783982b1e727c886f6d98eb9f7c3fd62dd19d3b','51cc3bf64d028fe7d37b8d0d562b72ffbaebf545d6db431593818b384ca9681e');
INSERT INTO "entries" VALUES(16,1795349009552491,'arrived','r3','c024d267d3067c56779aaa2486d90cbd5573bc4882fca10f3942d517a2d3bff4','51cc3bf64d028fe7d37b8d0d562b72ffbaebf545d6db431593818b384ca9681e','bd4444d6aaef1baf9462c2122f67210dc9ffe9d4a24969ed9e5f0532b18fb251');
INSERT INTO "entries" VALUES(17,1795349009554739,'assessed','r3','7b0ebb1fcba1cf810eaca182dca17e19ead3c577a4e837ff90ec794e3da043da','bd4444d6aaef1baf9462c2122f67210dc9ffe9d4a24969ed9e5f0532b18fb251','dfd2d57f313cbe9117544b2c731f5a8096cb2871e2448af31d52b38ff878e791');
INSERT INTO "entries" VALUES(18,1795349009555470,'asked','r3','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','dfd2d57f313cbe9117544b2c731f5a8096cb2871e2448af31d52b38ff878e791','a401a5531f95302615277e854bf6b7f8d8136de01a7ebb980aad485aa6110d71');
INSERT INTO "entries" VALUES(19,1795349009558722,'sealed','','8ec2d0083f6acfa82c0408e021e8a5e1417f2d7744ff0c9557f08aecf388dbe2','a401a5531f95302615277e854bf6b7f8d8136de01a7ebb980aad485aa6110d71','2c33df494b6dfc3ca9028e7b586abcb63bec5b71870871c1cf59dfdbe4b1ab3a');
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;
INSERT INTO "head" VALUES(1,19,'2c33df494b6dfc3ca9028e7b586abcb63bec5b71870871c1cf59dfdbe4b1ab3a','03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8','a17618b80cda82fe549a6d35300cf5e694516cc5650421b214325ee2e507825292e7cf84984ebe1d4360e2c6031beb2d5b094e6d3b0158453375f8ee14633d04');
CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    language TEXT,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    phase TEXT NOT NULL,
    arrived_at REAL NOT NULL,
    level INTEGER,
    asked_at REAL,
    verdict TEXT,
    decider TEXT,
    rule TEXT NOT NULL,
    decided_at REAL,
    waited REAL,
    started_at REAL,
    outcome TEXT,
    exit_code INTEGER,
    duration REAL,
    finished_at REAL,
    finished_seq INTEGER
) STRICT;
INSERT INTO "requests" VALUES(4,'r1','claude','code_execute','python','Say hello','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','closed',1795349009.4965,3,1.79534900950900697712e+09,'approved','person','',1.79534900951472711563e+09,2.5,1.79534900952044510838e+09,'ok',0,0.25,1.7953490095245070458e+09,9);
INSERT INTO "requests" VALUES(11,'r2','claude','code_execute','python','Say hello','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','closed',1.79534900953506898878e+09,4,1.79534900954448103905e+09,'denied','person','',1.79534900954770207403e+09,1.0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "requests" VALUES(16,'r3','claude','code_execute','python','Say hello','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','asked',1.79534900955249094962e+09,3,1795349009.55547,NULL,NULL,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE INDEX entries_of_the_house ON entries (kind, seq) WHERE request_id = '';
CREATE INDEX requests_by_agent ON requests (agent, seq);
CREATE INDEX requests_by_level ON requests (level, seq);
CREATE INDEX requests_by_verdict ON requests (verdict, seq);
CREATE INDEX requests_by_outcome ON requests (outcome, seq);
CREATE INDEX requests_open ON requests (seq) WHERE phase <> 'closed';
CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'entries are only added at the end'); END;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
CREATE TRIGGER bodies_once BEFORE INSERT ON bodies
WHEN EXISTS (SELECT 1 FROM bodies WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'bodies are never replaced'); END;
CREATE TRIGGER bodies_stay BEFORE UPDATE ON bodies
BEGIN SELECT RAISE(ABORT, 'bodies are never changed'); END;
CREATE TRIGGER bodies_remain BEFORE DELETE ON bodies
BEGIN SELECT RAISE(ABORT, 'bodies are never removed'); END;
CREATE INDEX entries_of_request ON entries (request_id, seq);
CREATE INDEX requests_by_time ON requests (arrived_at, seq);
COMMIT;
